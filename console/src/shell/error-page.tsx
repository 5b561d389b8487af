import { Link, useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { ApiError, errorMessage } from '../api/http.ts'
import { Button, buttonClass } from '../ui/button.tsx'

const RETRY_MS = 5_000

/** In place of a page that cannot be shown. A service that starts again is met again by itself. */
export function ErrorPage({ error }: { error: unknown }) {
  const router = useRouter()
  const away = error instanceof TypeError || (error instanceof ApiError && error.status >= 500)
  useEffect(() => {
    if (!away) return undefined
    const timer = setInterval(() => void router.invalidate(), RETRY_MS)
    return () => clearInterval(timer)
  }, [away, router])
  return (
    <MessagePage
      title={errorMessage(error)}
      action={<Button onClick={() => void router.invalidate()}>Try again</Button>}
      text={
        away ? 'It is asked again every few seconds; this page comes back by itself.' : 'This page cannot be shown.'
      }
    />
  )
}

export function NotFoundPage() {
  return (
    <MessagePage
      title="there is no such page"
      text="The address may be mistyped."
      action={
        <Link to="/" className={buttonClass('primary')}>
          Home
        </Link>
      }
    />
  )
}

function MessagePage({ title, text, action }: { title: string; text: string; action: ReactNode }) {
  return (
    <main className="mx-auto flex max-w-xl flex-col items-center gap-3 px-4 py-14 text-center">
      <h1 className="text-base font-semibold">{title.charAt(0).toUpperCase() + title.slice(1)}</h1>
      <p role="status" className="text-muted">
        {text}
      </p>
      {action}
    </main>
  )
}
