import { toObject } from '../../api/json.ts'
import type { Approval, PolicyRule } from '../../api/types.ts'

/** Why the run stopped here, in the terms of the wedge's own rules: only the first rule that matches was asked. */
export function whyStopped({ action, preview }: Pick<Approval, 'action' | 'preview'>, rules: PolicyRule[]): string {
  const rule = rules.find((one) => covers(one.action.toLowerCase(), action.toLowerCase()))
  if (!rule) return `No rule lets ${action} pass without a person.`
  const limit = rule.max_amount_usd
  if (limit !== undefined) {
    const payload = toObject(preview)
    const key = ['amount_usd', 'amount', 'total', 'value'].find((name) => Object.hasOwn(payload, name))
    const amount = key === undefined ? undefined : payload[key]
    if (typeof amount !== 'number') {
      return `The rule for ${rule.action} has a limit of ${usd(limit)}, and this states no amount.`
    }
    if (amount > limit) return `The rule for ${rule.action} passes up to ${usd(limit)}; this is ${usd(amount)}.`
  }
  return `The rule for ${rule.action} has used up its number for this task or today, or the task asks for a person.`
}

const usd = (amount: number) => `$${Number.isInteger(amount) ? amount : amount.toFixed(2)}`

function covers(pattern: string, action: string): boolean {
  if (pattern.endsWith('*')) return action.startsWith(pattern.slice(0, -1))
  return pattern.endsWith(':') ? action.startsWith(pattern) : pattern === action
}
