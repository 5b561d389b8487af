import type { ReactNode } from 'react'
import type { Role } from '../api/types.ts'
import { RequireRole } from './role.tsx'

const HEAD = 'px-4 py-2 font-medium whitespace-nowrap'

/**
 * A table for short lists; it scrolls sideways when it is too wide. `actions` adds the column of the `RowActions` and
 * its minimum role. With `actions` or `hasCards`, rows become cards on a phone, with the column name before each cell.
 */
export function Table({
  label,
  columns,
  actions,
  hasCards = actions !== undefined,
  children,
}: {
  label: string
  columns: string[]
  hasCards?: boolean
  actions?: { name: string; minRole: Role }
  children: ReactNode
}) {
  return (
    // Position relative, so that the absolutely positioned texts for screen readers scroll with their cell.
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className={`panel relative overflow-x-auto ${hasCards ? 'row-cards' : ''}`}
      style={Object.fromEntries(columns.map((name, i) => [`--column-${i + 1}`, JSON.stringify(name)]))}
    >
      <table className="w-full border-collapse text-left [&_td]:border-t [&_td]:border-line [&_td]:px-4 [&_td]:py-2 [&_td]:align-top">
        <thead>
          <tr className="text-xs text-muted">
            {columns.map((name) => (
              <th key={name} scope="col" className={HEAD}>
                {name}
              </th>
            ))}
            {actions && (
              <RequireRole minRole={actions.minRole}>
                <th scope="col" className={HEAD}>
                  {actions.name}
                </th>
              </RequireRole>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** The last cell of a row: its buttons, for members with the role. */
export function RowActions({ minRole, children }: { minRole: Role; children: ReactNode }) {
  return (
    <RequireRole minRole={minRole}>
      <td data-actions>
        <span className="flex gap-2 max-sm:flex-wrap">{children}</span>
      </td>
    </RequireRole>
  )
}
