import { useQuery } from '@tanstack/react-query'
import { toObject } from '../../api/json.ts'
import { approvalsQuery } from '../../api/queries.ts'
import type { Approval, PolicyRule } from '../../api/types.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatUsd } from '../../ui/format.ts'
import { JsonView } from '../../ui/json.tsx'
import { guessedMoney } from './amount.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.rule
const MIN_APPROVED = 3

/** After the same action was approved several times: the narrowest rule that would have approved it, to copy. */
export function RuleSuggestion({ approval }: { approval: Approval }) {
  const { data: approved } = useQuery(approvalsQuery('approved'))
  const same = approved?.filter((one) => one.wedge === approval.wedge && one.action === approval.action && !one.edited)
  if (!same || same.length < MIN_APPROVED) return null
  const rule = narrowestRule(approval.action, same)
  if (!rule) return null
  const effect =
    rule.max_amount_usd === undefined
      ? text.effect(same.length)
      : text.effectWithLimit(same.length, formatUsd(rule.max_amount_usd))
  return (
    <details className="panel px-5 py-3">
      <summary className="text-muted">{text.suggestion(approval.action, same.length)}</summary>
      <div className="mt-3 flex flex-col gap-2">
        <JsonView value={{ ...rule }} label={text.label} />
        <p className="text-muted">
          {effect} {text.howToUse}
        </p>
        <div>
          <CopyButton text={() => JSON.stringify(rule)} label={text.copy} />
        </div>
      </div>
    </details>
  )
}

/**
 * Limited to the highest approved amount and to the number of approvals on the busiest day. Null if a tool declares its
 * amount and one is not in dollars: a rule with a limit would not cover it, and a rule without one covers too much.
 */
function narrowestRule(action: string, approved: Approval[]): PolicyRule | null {
  if (approved.some(({ amount }) => amount && (amount.value === null || amount.currency !== 'USD'))) return null
  const amounts = approved.map(({ amount, preview }) => (amount ?? guessedMoney(toObject(preview)))?.value ?? null)
  const days = Map.groupBy(approved, ({ created_at }) => created_at.slice(0, 10))
  const known = amounts.filter((amount) => amount !== null)
  return {
    action,
    ...(known.length === amounts.length && { max_amount_usd: Math.max(...known) }),
    max_per_task: 1,
    max_per_day: Math.max(...[...days.values()].map((day) => day.length)),
  }
}
