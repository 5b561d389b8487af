import type { ActionAmount, Json, JsonObject } from '../../api/types.ts'
import { moneyFields } from './amount.ts'
import { changedFields } from './payload-diff.ts'
import { approvalsText } from './text.ts'

/** The changed fields: the proposed value and the new one. */
export function PayloadDiffView({
  payload,
  edited,
  amount,
}: {
  payload: JsonObject
  edited: JsonObject
  amount: ActionAmount | null
}) {
  const changed = changedFields(payload, edited)
  const moneyBefore = moneyFields(amount, payload)
  const moneyAfter = moneyFields(amount, { ...payload, ...edited })
  if (changed.length === 0) return <p className="text-xs text-muted">{approvalsText.editor.noChanges}</p>
  return (
    <ul aria-label={approvalsText.editor.changes} className="flex flex-col gap-1 font-mono text-xs">
      {changed.map(({ key, before, after }) => (
        <li key={key} className="grid grid-cols-[8rem_1fr] gap-2 max-sm:grid-cols-1">
          <span className="text-muted">{key}</span>
          <span className="flex min-w-0 flex-wrap gap-x-2 break-all">
            {before !== undefined && (
              <del className="rounded bg-bad-soft px-1 text-bad">{moneyBefore[key] ?? shown(before)}</del>
            )}
            <ins className="rounded bg-ok-soft px-1 text-ok no-underline">{moneyAfter[key] ?? shown(after)}</ins>
          </span>
        </li>
      ))}
    </ul>
  )
}

const shown = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))
