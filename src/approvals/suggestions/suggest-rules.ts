import { formatDollars } from '../../platform/contract/amount.ts'
import { declaredApprovers, matchApprovals } from '../../platform/contract/wedge/declared-approvals.ts'
import {
  addRule,
  evaluatePolicy,
  firstMatchingRule,
  isExactAction,
  type PolicyRequest,
  statedDollars,
  statesAmount,
} from '../../platform/contract/policy.ts'
import type { StatedDollars } from '../../platform/contract/undeclared-amount.ts'
import type { PolicyRule, WedgeManifest } from '../../platform/contract/wedge/wedge-manifest.ts'

/** A rule is suggested after a person has approved this many requests without a change. */
export const MIN_APPROVED = 5

const MAX_SAMPLES = 5

/**
 * `unchanged`: one member was enough and approved the request as it was. `refused`: a person or a key rejected it, sent it
 * back or edited it. `undecided`: it expired. `other`: it says nothing about what people want.
 */
export type PastOutcome = 'unchanged' | 'refused' | 'undecided' | 'other'

/** What a suggestion needs to know of a past request. The payload is not kept, because there may be thousands. */
export interface PastDecision {
  approvalId: string
  taskId: string
  action: string
  /** ISO time; its first ten characters are the UTC day. */
  createdAt: string
  outcome: PastOutcome
  stated: StatedDollars
  statesAmount: boolean
  /** A rule that applies now would approve it. */
  isPassedNow: boolean
}

export interface RuleSuggestion {
  rule: PolicyRule
  /** All rules with the suggested one, in the order in which they can be saved. */
  rules: PolicyRule[]
  /** The requests that people approved unchanged and that the rule would have approved, newest first. */
  wouldPass: PastDecision[]
  /** The requests that people approved unchanged with an amount above the limit, newest first. */
  aboveLimit: PastDecision[]
  /** Requests without a decision that the rule would have approved as well. */
  undecided: number
  /** The requests that people refused. The rule covers none of them; those nearest to its limit come first. */
  refused: PastDecision[]
}

export interface RefusedSuggestion {
  action: string
  reason: string
}

export interface RuleSuggestions {
  suggestions: RuleSuggestion[]
  refused: RefusedSuggestion[]
}

export function toPastDecision(
  rules: PolicyRule[],
  request: PolicyRequest,
  past: Pick<PastDecision, 'approvalId' | 'taskId' | 'createdAt' | 'outcome'>,
): PastDecision {
  return {
    ...past,
    action: request.action,
    stated: statedDollars(request),
    statesAmount: statesAmount(request),
    isPassedNow: evaluatePolicy(rules, request, () => ({ task: 0, day: 0 })).approve,
  }
}

/**
 * For each action that people keep approving unchanged: the narrowest rule that would have approved it and covers no
 * request that a person refused, or why there is none. `past` is newest first.
 */
export function suggestRules(
  manifest: Pick<WedgeManifest, 'approvals'>,
  rules: PolicyRule[],
  past: readonly PastDecision[],
): RuleSuggestions {
  const found: RuleSuggestions = { suggestions: [], refused: [] }
  // Rules ignore the case of actions.
  for (const requests of groupBy(past, ({ action }) => action.toLowerCase())) {
    const action = requests[0]?.action ?? ''
    const approved = requests.filter(({ outcome, isPassedNow }) => outcome === 'unchanged' && !isPassedNow)
    if (approved.length < MIN_APPROVED) continue
    const suggestion = whyNotByRule(manifest, rules, action) ?? suggestRule(manifest, rules, requests, approved)
    if (typeof suggestion === 'string') found.refused.push({ action, reason: suggestion })
    else found.suggestions.push(suggestion)
  }
  found.suggestions.sort((a, b) => b.wouldPass.length - a.wouldPass.length)
  return found
}

/** Why no rule is suggested for the action, whatever its requests were; null if one may be. */
function whyNotByRule(manifest: Pick<WedgeManifest, 'approvals'>, rules: PolicyRule[], action: string): string | null {
  if (!isExactAction(action)) return 'a rule cannot name this action alone, because its name ends in : or *'
  const { needed, approvers, excludesRequester } = declaredApprovers(manifest, action)
  if (needed > 1) return `the wedge says that ${needed} people must approve it`
  if (approvers !== null) return 'the wedge says who must approve it'
  if (excludesRequester) return 'the wedge says that the person who started the task may not approve it'
  if (isRequiredReply(manifest, action)) return 'the wedge requires an approval of every reply to a client'
  const first = rules[firstMatchingRule(rules, action) ?? -1]
  if (first?.max_per_task === 0 || first?.max_per_day === 0) return 'a rule says that it always needs an approval'
  return null
}

const isRequiredReply = (manifest: Pick<WedgeManifest, 'approvals'>, action: string): boolean =>
  /(?:^|:)reply$/i.test(action) && matchApprovals(manifest, action).some(({ required }) => required)

function suggestRule(
  manifest: Pick<WedgeManifest, 'approvals'>,
  rules: PolicyRule[],
  requests: readonly PastDecision[],
  approved: readonly PastDecision[],
): RuleSuggestion | string {
  const action = requests[0]?.action ?? ''
  const refused = requests.filter(({ outcome }) => outcome === 'refused').toSorted(byAmount)
  const limit = requests.some((request) => request.statesAmount) ? safeLimit(approved, refused) : undefined
  if (typeof limit === 'string') return limit
  if (limit === undefined && refused.length > 0)
    return 'requests state no amount, so a rule would also cover those that people rejected or edited'
  if (limit === undefined && isHighRisk(manifest, action))
    return 'the wedge says that it has a high risk, and its requests state no amount that a rule can limit'
  const isCovered = ({ stated }: PastDecision) =>
    limit === undefined || ('dollars' in stated && stated.dollars <= limit)
  const wouldPass = approved.filter(isCovered)
  const rule = { action, ...(limit !== undefined && { max_amount_usd: limit }), ...caps(rules, action, wouldPass) }
  const undecided = requests.filter((one) => one.outcome === 'undecided' && !one.isPassedNow && isCovered(one)).length
  const aboveLimit = approved.filter((one) => !isCovered(one) && 'dollars' in one.stated)
  return { rule, rules: addRule(rules, rule), wouldPass, aboveLimit, undecided, refused }
}

/** A refused request of at most this many dollars leaves no rule for its action. Infinity: any refused request does. */
export function decisiveDollars({ rule, wouldPass }: RuleSuggestion): number {
  if (rule.max_amount_usd === undefined) return Number.POSITIVE_INFINITY
  const amounts = wouldPass.map(dollarsOf).toSorted((a, b) => a - b)
  return amounts[MIN_APPROVED - 1] ?? Number.POSITIVE_INFINITY
}

/** Only what the wedge declares counts: an action of a connection has a high risk by default. */
const isHighRisk = (manifest: Pick<WedgeManifest, 'approvals'>, action: string): boolean =>
  matchApprovals(manifest, action).some(({ risk }) => risk === 'high')

/** Infinity if the request states no amount that a rule can limit. */
export const dollarsOf = ({ stated }: PastDecision): number =>
  'dollars' in stated ? stated.dollars : Number.POSITIVE_INFINITY

const byAmount = (a: PastDecision, b: PastDecision): number => {
  const [x, y] = [dollarsOf(a), dollarsOf(b)]
  return x === y ? 0 : x - y
}

/** An approved amount is usual up to this many times the median, which one large amount does not move. */
const USUAL_TIMES_MEDIAN = 2

/**
 * The highest usual amount that was approved and is below every refused one, or why there is none. `refused` is in order.
 */
function safeLimit(approved: readonly PastDecision[], refused: readonly PastDecision[]): number | string {
  const amounts = approved.map(dollarsOf).filter(Number.isFinite)
  if (amounts.length < MIN_APPROVED)
    return `fewer than ${MIN_APPROVED} approved requests state an amount in dollars that a rule can limit`
  const lowestRefused = refused[0] ? dollarsOf(refused[0]) : Number.POSITIVE_INFINITY
  const safe = amounts.filter((amount) => amount < lowestRefused)
  if (safe.length < MIN_APPROVED)
    return `people rejected or edited a request of ${formatDollars(lowestRefused)}, and approved fewer than ${MIN_APPROVED} below it`
  const median = safe.toSorted((a, b) => a - b)[Math.floor((safe.length - 1) / 2)] ?? 0
  const usual = safe.filter((amount) => amount <= USUAL_TIMES_MEDIAN * median)
  if (usual.length < MIN_APPROVED)
    return `the approved amounts differ too much: fewer than ${MIN_APPROVED} are at most ${formatDollars(USUAL_TIMES_MEDIAN * median)}, twice the median`
  return largest(usual)
}

/**
 * As many in a task and on a day as people approved. A rule that matches the action now is replaced or comes later, so the
 * caps are at least its caps: what passes without a person today still does.
 */
function caps(rules: PolicyRule[], action: string, passed: readonly PastDecision[]): Omit<PolicyRule, 'action'> {
  const now = rules[firstMatchingRule(rules, action) ?? -1]
  const task = capOf(
    now,
    'max_per_task',
    largestGroup(passed, ({ taskId }) => taskId),
  )
  const day = capOf(
    now,
    'max_per_day',
    largestGroup(passed, ({ createdAt }) => createdAt.slice(0, 10)),
  )
  return { ...(task !== undefined && { max_per_task: task }), ...(day !== undefined && { max_per_day: day }) }
}

function capOf(now: PolicyRule | undefined, cap: 'max_per_task' | 'max_per_day', approved: number): number | undefined {
  if (now && now[cap] === undefined) return undefined
  return Math.max(approved, now?.[cap] ?? 0)
}

const largestGroup = (passed: readonly PastDecision[], keyOf: (one: PastDecision) => string): number =>
  largest(groupBy(passed, keyOf).map((group) => group.length))

function groupBy(decisions: readonly PastDecision[], keyOf: (one: PastDecision) => string): PastDecision[][] {
  const groups = new Map<string, PastDecision[]>()
  for (const one of decisions) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()]
}

/** `Math.max` takes its numbers as arguments, and tens of thousands do not fit on the stack. */
const largest = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0)

/** The first few ids, as examples. */
export const sampleIds = (decisions: readonly PastDecision[]): string[] =>
  decisions.slice(0, MAX_SAMPLES).map(({ approvalId }) => approvalId)
