import { useQuery } from '@tanstack/react-query'
import { toObject } from '../../api/json.ts'
import { approvalsQuery } from '../../api/queries.ts'
import type { Approval, PolicyRule } from '../../api/types.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { JsonView } from '../../ui/json.tsx'

const MIN_APPROVED = 3

/** When the same thing was approved again and again: the narrowest rule that would have passed it, to paste, not to press. */
export function RuleSuggestion({ approval }: { approval: Approval }) {
  const { data: approved } = useQuery(approvalsQuery('approved'))
  const alike = approved?.filter((one) => one.wedge === approval.wedge && one.action === approval.action && !one.edited)
  if (!alike || alike.length < MIN_APPROVED) return null
  const rule = narrowestRule(approval.action, alike)
  return (
    <details className="panel px-5 py-3">
      <summary className="text-muted">
        You approved <code className="font-mono text-xs">{approval.action}</code> {alike.length} times as it was. A
        rule?
      </summary>
      <div className="mt-3 flex flex-col gap-2">
        <JsonView value={{ ...rule }} label="Rule" />
        <p className="text-muted">
          It would have passed all {alike.length} of them
          {rule.max_amount_usd !== undefined && `, and nothing above $${rule.max_amount_usd}`}. To use it, put it into{' '}
          <code className="font-mono text-xs">policy.auto_approve</code> of the wedge’s wedge.json.
        </p>
        <div>
          <CopyButton text={() => JSON.stringify(rule)} label="Copy the rule" />
        </div>
      </div>
    </details>
  )
}

/** No higher than the highest amount that a person let through, and no oftener than they did on their busiest day. */
function narrowestRule(action: string, approved: Approval[]): PolicyRule {
  const amounts = approved.map(({ preview }) => toObject(preview)['amount_usd'])
  const days = Map.groupBy(approved, ({ created_at }) => created_at.slice(0, 10))
  const known = amounts.filter((amount) => typeof amount === 'number')
  return {
    action,
    ...(known.length === amounts.length && { max_amount_usd: Math.max(...known) }),
    max_per_task: 1,
    max_per_day: Math.max(...[...days.values()].map((day) => day.length)),
  }
}
