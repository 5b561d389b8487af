import type { ReactNode } from 'react'

/** On a phone the last column stays in sight, over the others that scroll. */
const ACTS =
  'max-sm:[&_tr>:last-child]:sticky max-sm:[&_tr>:last-child]:right-0 max-sm:[&_tr>:last-child]:border-l max-sm:[&_tr>:last-child]:border-line max-sm:[&_tr>:last-child]:bg-surface max-sm:[&_tr>:last-child]:px-2'

/** Rows that fit on a page; long lists are virtual instead. Wide ones scroll by themselves. `acts`: the last column does. */
export function Table({
  label,
  head,
  acts = false,
  children,
}: {
  label: string
  head: string[]
  acts?: boolean
  children: ReactNode
}) {
  return (
    // Relative: words for screen readers only are placed absolutely, and must scroll with their cell.
    <div role="region" aria-label={label} tabIndex={0} className="panel relative overflow-x-auto">
      <table
        className={`w-full border-collapse text-left [&_td]:border-t [&_td]:border-line [&_td]:px-4 [&_td]:py-2 [&_td]:align-top ${acts ? ACTS : ''}`}
      >
        <thead>
          <tr className="text-xs text-muted">
            {head.map((name) => (
              <th key={name} scope="col" className="px-4 py-2 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

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
