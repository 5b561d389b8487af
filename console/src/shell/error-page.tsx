import { Link, useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { errorMessage } from '../api/http.ts'
import { ApiError } from '../api/request.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { capitalize } from '../ui/humanize.ts'
import { shellText } from './text.ts'

const RETRY_MS = 5_000

/** Replaces the whole console when it cannot be shown. */
export function ErrorDocument({ error }: { error: unknown }) {
  return (
    <main>
      <ErrorPage error={error} />
    </main>
  )
}

/** Replaces a page that failed to load. While the service is unreachable, it retries every 5 s. */
export function ErrorPage({ error }: { error: unknown }) {
  const router = useRouter()
  const isUnreachable = error instanceof TypeError || (error instanceof ApiError && error.status >= 500)
  useEffect(() => {
    if (!isUnreachable) return undefined
    const timer = setInterval(() => void router.invalidate(), RETRY_MS)
    return () => clearInterval(timer)
  }, [isUnreachable, router])
  return (
    <MessagePage
      title={errorMessage(error)}
      action={<Button onClick={() => void router.invalidate()}>{shellText.tryAgain}</Button>}
      text={isUnreachable ? shellText.retrying : shellText.cannotShow}
    />
  )
}

export function NotFoundPage() {
  return (
    <MessagePage
      title={shellText.notFound}
      text={shellText.notFoundHint}
      action={
        <Link to="/" className={buttonClass('primary')}>
          {shellText.home}
        </Link>
      }
    />
  )
}

function MessagePage({ title, text, action }: { title: string; text: string; action: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-xl flex-col items-center gap-3 px-4 py-14 text-center">
      <h1 className="text-base font-semibold">{capitalize(title)}</h1>
      <p role="status" className="text-muted">
        {text}
      </p>
      {action}
    </div>
  )
}
