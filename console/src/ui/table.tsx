import type { ReactNode } from 'react'
import type { Role } from '../api/types.ts'
import { May } from './may.tsx'

const HEAD = 'px-4 py-2 font-medium whitespace-nowrap'

/**
 * Rows that fit on a page; long lists are virtual instead. Wide ones scroll by themselves. `acts` names the column of
 * `Acts`, and who has it; such rows are cards on a phone, each cell behind the name of its column.
 */
export function Table({
  label,
  head,
  acts,
  children,
}: {
  label: string
  head: string[]
  acts?: { name: string; least: Role }
  children: ReactNode
}) {
  return (
    // Relative: words for screen readers only are placed absolutely, and must scroll with their cell.
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className={`panel relative overflow-x-auto ${acts ? 'row-cards' : ''}`}
      style={Object.fromEntries(head.map((name, i) => [`--column-${i + 1}`, JSON.stringify(name)]))}
    >
      <table className="w-full border-collapse text-left [&_td]:border-t [&_td]:border-line [&_td]:px-4 [&_td]:py-2 [&_td]:align-top">
        <thead>
          <tr className="text-xs text-muted">
            {head.map((name) => (
              <th key={name} scope="col" className={HEAD}>
                {name}
              </th>
            ))}
            {acts && (
              <May least={acts.least}>
                <th scope="col" className={HEAD}>
                  {acts.name}
                </th>
              </May>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** The last cell of a row: what can be done with it, by who has the role of the column. */
export function Acts({ least, children }: { least: Role; children: ReactNode }) {
  return (
    <May least={least}>
      <td data-acts>
        <span className="flex gap-2 max-sm:flex-wrap">{children}</span>
      </td>
    </May>
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
