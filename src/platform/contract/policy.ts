import type { Json } from '../base/json.ts'
import { type AmountMapping, formatAmountWithCode, formatDollars, readAmount } from './amount.ts'
import { mentionsMoney, readUndeclaredDollars, type StatedDollars } from './undeclared-amount.ts'
import type { PolicyRule } from './wedge/wedge-manifest.ts'

/** What a rule is evaluated for. `amount` says where the tool of the action states its amount, if the tool declares it. */
export interface PolicyRequest {
  action: string
  payload: Json
  amount?: AmountMapping | null
}

/** How often a rule has approved already: in this task, and in this project on this UTC day. */
export type PolicyCounts = { task: number; day: number }

/** `rule` is an index into the list. `reason` is a full sentence that people read; it counts rules from one. */
export type PolicyVerdict = { approve: true; rule: number; reason: string } | { approve: false; reason: string }

export const APPROVAL_REQUIRED_REASON = 'This task requires approval for every action.'

/**
 * Whether the auto-approve rules approve the request without a person, and why or why not. Only the first rule that
 * matches the action counts: if it refuses, no later rule can approve. A request that a rule cannot evaluate needs a
 * person. This is the only policy evaluation: the server stores the reason with the approval, clients only show it.
 * `savedVersion` is the version that the project saved; null for the rules of the wedge's folder.
 */
export function evaluatePolicy(
  rules: PolicyRule[],
  request: PolicyRequest,
  counts: (rule: number) => PolicyCounts,
  savedVersion: number | null = null,
): PolicyVerdict {
  const index = firstMatchingRule(rules, request.action)
  const rule = index === null ? undefined : rules[index]
  if (index === null || !rule) return { approve: false, reason: missingRule(request.action) }
  const used = counts(index)
  const refusal = amountRefusal(rule, request) ?? countRefusal(rule, used)
  if (refusal !== null) return { approve: false, reason: refusal }
  return {
    approve: true,
    rule: index,
    reason: `Rule ${index + 1} (${rule.action})${ofVersion(savedVersion)} allows ${describeAllowance(rule, used)}.`,
  }
}

/** The action of a reply is named after its connection, which says little to the person who reads the reason. */
const missingRule = (action: string) =>
  action.endsWith(':reply')
    ? `Replies need approval: no auto-approve rule covers ${action}.`
    : `No auto-approve rule covers ${action}.`

const ofVersion = (version: number | null) => (version === null ? '' : ` of policy version ${version}`)

/** The rule whose counters a request would use. */
export function firstMatchingRule(rules: PolicyRule[], action: string): number | null {
  const index = rules.findIndex((rule) => covers(toPattern(rule), { text: action.toLowerCase(), prefix: false }))
  return index === -1 ? null : index
}

/** The rules with one more: it replaces a rule with the same action, and comes before a rule that matches more. */
export function addRule(rules: PolicyRule[], rule: PolicyRule): PolicyRule[] {
  const at = firstMatchingRule(rules, rule.action)
  if (at === null) return [...rules, rule]
  const isSameAction = rules[at]?.action.toLowerCase() === rule.action.toLowerCase()
  return rules.toSpliced(at, isSameAction ? 1 : 0, rule)
}

/** A name that ends in `:` or `*` would be a prefix in a rule, so no rule can match this action alone. */
export const isExactAction = (action: string): boolean => !toPattern({ action }).prefix

/** The rule in words, such as "send_note up to $50, at most 1 in a task and 3 on a day". */
export function describeRule(rule: PolicyRule): string {
  const caps = [
    ...(rule.max_per_task === undefined ? [] : [`${rule.max_per_task} in a task`]),
    ...(rule.max_per_day === undefined ? [] : [`${rule.max_per_day} on a day`]),
  ]
  const limit = rule.max_amount_usd === undefined ? '' : ` up to ${formatDollars(rule.max_amount_usd)}`
  return `${rule.action}${limit}${caps.length === 0 ? '' : `, at most ${caps.join(' and ')}`}`
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

function amountRefusal({ max_amount_usd: limit }: PolicyRule, request: PolicyRequest): string | null {
  if (limit === undefined) return null
  const stated = statedDollars(request)
  if ('problem' in stated) return `Auto-approval limit is ${formatDollars(limit)}; ${stated.problem}.`
  if (stated.dollars <= limit) return null
  return `Auto-approval limit is ${formatDollars(limit)}; this is ${formatDollars(stated.dollars)}.`
}

/** The amount that limits are compared with, or why there is none. */
export const statedDollars = ({ payload, amount }: Pick<PolicyRequest, 'payload' | 'amount'>): StatedDollars =>
  amount ? declaredDollars(amount, payload) : readUndeclaredDollars(payload)

/** Whether the request is about money at all, even if its amount cannot be compared with a limit. */
export const statesAmount = ({ payload, amount }: Pick<PolicyRequest, 'payload' | 'amount'>): boolean =>
  Boolean(amount) || mentionsMoney(payload)

/** A tool that declares its amount states it there only: other fields of the payload do not count. */
function declaredDollars(mapping: AmountMapping, payload: Json): StatedDollars {
  const amount = readAmount(mapping, payload)
  if ('problem' in amount) return amount
  if (amount.currency === 'USD') return { dollars: amount.value }
  return { problem: `the amount is ${formatAmountWithCode(amount)}; limits are in USD` }
}

function countRefusal(rule: PolicyRule, used: PolicyCounts): string | null {
  if (rule.max_per_task !== undefined && !(used.task < rule.max_per_task)) return capReachedReason(rule, 'task')
  if (rule.max_per_day !== undefined && !(used.day < rule.max_per_day)) return capReachedReason(rule, 'day')
  return null
}

export function capReachedReason(rule: PolicyRule, cap: keyof PolicyCounts): string {
  const limit = cap === 'task' ? rule.max_per_task : rule.max_per_day
  return `The auto-approval limit of ${limit} per ${cap} is reached.`
}

/** The counts include the approval that this sentence explains. */
function describeAllowance(rule: PolicyRule, used: PolicyCounts): string {
  const what = rule.max_amount_usd === undefined ? 'this action' : `up to ${formatDollars(rule.max_amount_usd)}`
  const uses = [
    ...(rule.max_per_task === undefined ? [] : [`${used.task + 1} of ${rule.max_per_task} in this task`]),
    ...(rule.max_per_day === undefined ? [] : [`${used.day + 1} of ${rule.max_per_day} today`]),
  ]
  return uses.length === 0 ? what : `${what} (${uses.join(', ')})`
}
