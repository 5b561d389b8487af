import { isJsonObject, type Json } from '../base/json.ts'
import type { PolicyRule } from './wedge-manifest.ts'

/** How often a rule has approved already, in this run and in this project on this UTC day. */
export type PolicyCounts = { task: number; day: number }

/** `rule` is an index into the list; sentences count from one, as people do. */
export type PolicyVerdict = { approve: true; rule: number; reason: string } | { approve: false; reason: string }

/**
 * Whether the rules approve the request without a person. Only the first rule that matches is asked: when it refuses,
 * no later rule may allow. Whatever cannot be judged is left to a person.
 */
export function evaluatePolicy(
  rules: PolicyRule[],
  request: { action: string; payload: Json },
  counts: (rule: number) => PolicyCounts,
): PolicyVerdict {
  const index = firstMatchingRule(rules, request.action)
  const rule = index === null ? undefined : rules[index]
  if (index === null || !rule) return { approve: false, reason: 'no policy rule matches this action' }
  const name = `rule ${index + 1} ('${rule.action}')`
  const used = counts(index)
  const refusal = amountRefusal(rule, request.payload) ?? countRefusal(rule, used)
  if (refusal !== null) return { approve: false, reason: `${name} ${refusal}` }
  return { approve: true, rule: index, reason: `${name} allows ${describeAllowance(rule, used)}` }
}

/** The rule whose counters a request would use. */
export function firstMatchingRule(rules: PolicyRule[], action: string): number | null {
  const index = rules.findIndex((rule) => covers(toPattern(rule), { text: action.toLowerCase(), prefix: false }))
  return index === -1 ? null : index
}

/** Rules that are never asked, because the earlier rule `by` matches everything that they match. */
export function unreachableRules(rules: PolicyRule[]): { rule: number; by: number }[] {
  const patterns = rules.map(toPattern)
  return patterns.flatMap((later, rule) => {
    const by = patterns.slice(0, rule).findIndex((earlier) => covers(earlier, later))
    return by === -1 ? [] : [{ rule, by }]
  })
}

type ActionPattern = { text: string; prefix: boolean }

/** An exact name, or a prefix when the action ends in `:` or `*`; `*` alone is the empty prefix. Case does not matter. */
function toPattern(rule: PolicyRule): ActionPattern {
  const text = rule.action.toLowerCase()
  if (text.endsWith('*')) return { text: text.slice(0, -1), prefix: true }
  return { text, prefix: text.endsWith(':') }
}

/** Every name that `narrow` matches is matched by `wide` as well. */
function covers(wide: ActionPattern, narrow: ActionPattern): boolean {
  return wide.prefix ? narrow.text.startsWith(wide.text) : !narrow.prefix && narrow.text === wide.text
}

const AMOUNT_KEYS = ['amount_usd', 'amount', 'total', 'value']

function amountRefusal(rule: PolicyRule, payload: Json): string | null {
  if (rule.max_amount_usd === undefined) return null
  const key = isJsonObject(payload) ? AMOUNT_KEYS.find((key) => Object.hasOwn(payload, key)) : undefined
  if (!isJsonObject(payload) || key === undefined) return 'has a limit, and the payload states no amount'
  const amount = payload[key]
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
    return `has a limit, and '${key}' in the payload is not a number of dollars`
  }
  if (amount <= rule.max_amount_usd) return null
  return `allows up to ${formatDollars(rule.max_amount_usd)}, and this is ${formatDollars(amount)}`
}

function countRefusal(rule: PolicyRule, used: PolicyCounts): string | null {
  if (rule.max_per_task !== undefined && !(used.task < rule.max_per_task)) {
    return `has used up its ${rule.max_per_task} in this task`
  }
  if (rule.max_per_day !== undefined && !(used.day < rule.max_per_day)) {
    return `has used up its ${rule.max_per_day} for today`
  }
  return null
}

/** Counts include the approval that this sentence explains. */
function describeAllowance(rule: PolicyRule, used: PolicyCounts): string {
  const parts = [rule.max_amount_usd === undefined ? 'this action' : `up to ${formatDollars(rule.max_amount_usd)}`]
  if (rule.max_per_task !== undefined) parts.push(`${used.task + 1} of ${rule.max_per_task} in this task`)
  if (rule.max_per_day !== undefined) parts.push(`${used.day + 1} of ${rule.max_per_day} today`)
  return parts.join(', ')
}

/** Cents, unless they would hide by rounding what made the difference. */
function formatDollars(amount: number): string {
  const cents = amount.toFixed(2)
  return `$${Number(cents) === amount ? cents : String(amount)}`
}
