import type { ReactNode } from 'react'

/** A page: its heading, the actions for the whole page, and its content. */
export function Page({
  title,
  lead,
  actions,
  stackOnPhone = false,
  children,
}: {
  title: ReactNode
  lead?: ReactNode
  actions?: ReactNode
  /** Always puts the actions below the heading on a phone, so that a heading that changes does not move them. */
  stackOnPhone?: boolean
  children: ReactNode
}) {
  return (
    <div className="mx-auto flex w-full max-w-[100rem] flex-col gap-4 p-4 sm:p-6">
      <header className="flex min-h-8 flex-wrap items-center gap-3">
        <div className={`min-w-0 ${stackOnPhone ? 'max-sm:basis-full' : ''}`}>
          <h1
            className={`text-lg font-semibold tracking-tight wrap-anywhere ${stackOnPhone ? 'max-sm:text-base' : ''}`}
          >
            {title}
          </h1>
          {lead && <p className="text-muted">{lead}</p>}
        </div>
        <div className="ml-auto flex flex-wrap items-center justify-end gap-2">{actions}</div>
      </header>
      {children}
    </div>
  )
}

/** A titled part of a page. */
export function Section({ title, actions, children }: { title: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <header className="flex min-h-7 flex-wrap items-center gap-2">
        <h2 className="font-semibold">{title}</h2>
        <div className="ml-auto flex min-w-0 gap-2">{actions}</div>
      </header>
      {children}
    </section>
  )
}
