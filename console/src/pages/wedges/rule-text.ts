import type { PolicyRule } from '../../api/types.ts'
import { formatUsd } from '../../ui/format.ts'

/** A rule in words, such as "refund up to $50.00, at most 20 on a day". */
export function ruleInWords({ action, max_amount_usd, max_per_task, max_per_day }: PolicyRule): string {
  const limit = max_amount_usd === undefined ? '' : ` up to ${formatUsd(max_amount_usd)}`
  const caps = [
    ...(max_per_task === undefined ? [] : [`${max_per_task.toLocaleString()} in a task`]),
    ...(max_per_day === undefined ? [] : [`${max_per_day.toLocaleString()} on a day`]),
  ]
  return `${action}${limit}${caps.length === 0 ? '' : `, at most ${caps.join(' and ')}`}`
}
