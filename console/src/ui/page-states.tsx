import type { ReactNode } from 'react'
import type { Role } from '../api/types.ts'
import { CurlExample } from './curl-example.tsx'
import { capitalize } from './humanize.ts'
import { RequireRole } from './role.tsx'

/** An empty list: what it is for, and the button or API call that adds the first item for members with the role. */
export function EmptyState({
  title,
  children,
  minRole = 'operator',
  curl,
  action,
}: {
  title: string
  children?: ReactNode
  minRole?: Role
  curl?: string
  action?: ReactNode
}) {
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col items-center gap-3 px-4 py-14 text-center">
      <h2 className="text-base font-semibold">{title}</h2>
      {children && <div className="text-muted">{children}</div>}
      <RequireRole minRole={minRole}>
        {action}
        {curl && (
          <div className="mt-2 w-full">
            <CurlExample text={curl} />
          </div>
        )}
      </RequireRole>
    </div>
  )
}

export function ErrorMessage({ message, children }: { message: string; children?: ReactNode }) {
  return (
    <div role="alert" className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <p>{capitalize(message)}</p>
      {children}
    </div>
  )
}

/** Reserves the space of content that is still loading. */
export function Placeholder({ className = 'h-24' }: { className?: string }) {
  return <div aria-hidden className={`animate-appear rounded-md bg-off-soft ${className}`} />
}
