import { hash } from 'node:crypto'
import {
  APPROVAL_REQUIRED_REASON,
  capReachedReason,
  evaluatePolicy,
  firstMatchingRule,
  type PolicyCounts,
} from '../../platform/contract/policy.ts'
import { isShownReply } from '../../platform/contract/wedge/declared-approvals.ts'
import type { PolicyRule } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { lockThread } from '../../customers/threads/thread-state-rows.ts'
import { lockTask } from '../../work/tasks/rows.ts'
import type { GatedRequest, GatedRun } from './gated-request.ts'
import { findPolicy } from './current-policy.ts'
import { countPolicyUses, undoPolicyUse, upsertPolicyUse } from './policy-counter-rows.ts'

/** Why a request was approved or needs a person, and the rule that approved it. */
export interface AppliedPolicy {
  rule: PolicyRule | null
  reason: string
}

/**
 * Evaluates the auto-approve rules that the project has for the wedge now. If one approves, its counters are raised in the
 * transaction that writes the approval. A request that is not approved raises no counter.
 */
export async function applyPolicy(tx: Tx, run: GatedRun, request: GatedRequest): Promise<AppliedPolicy> {
  const { action, payload, path } = request
  const amount = request.tool?.amount ?? null
  // No rule knows the answer.
  if (path === 'question') return { rule: null, reason: 'a question needs the answer of a person' }
  if (run.constraints.approval_required) return { rule: null, reason: APPROVAL_REQUIRED_REASON }
  if (request.connection && isShownReply(action.toLowerCase())) return HAS_RESERVED_NAME
  if (request.threadId && (await isHeldByPerson(tx, run, request.threadId))) return HELD_BY_PERSON
  const { rules, savedVersion } = await findPolicy(tx.db, run.projectId, run.wedge)
  const evaluate = (counts: PolicyCounts) =>
    evaluatePolicy(rules, { action, payload, amount }, () => counts, savedVersion)
  const rule = rules[firstMatchingRule(rules, action) ?? -1]
  if (!rule) return { rule: null, reason: evaluate({ task: 0, day: 0 }).reason }
  const keys = policyCounterKeys(tx, run, rule)
  const verdict = evaluate({
    task: await countPolicyUses(tx.db, run.projectId, keys.rule, keys.task),
    day: await countPolicyUses(tx.db, run.projectId, keys.rule, keys.day),
  })
  if (!verdict.approve) return { rule: null, reason: verdict.reason }
  const uses = await takePolicyUses(tx, run.projectId, keys, rule)
  if ('reached' in uses) return { rule: null, reason: capReachedReason(rule, uses.reached) }
  // Other requests may have used the rule since it was counted. The stored reason counts this use.
  return { rule, reason: evaluate(uses).reason }
}

/** The connection is older than the rule about names. A rule for shown replies must not approve what it sends. */
const HAS_RESERVED_NAME: AppliedPolicy = {
  rule: null,
  reason: 'this action has the name of a reply that is only shown, but it is sent: rename its connection',
}

const HELD_BY_PERSON: AppliedPolicy = { rule: null, reason: 'a person has taken the conversation over' }

/** Locks the thread, so that a person who takes it over comes before this request or after it. */
async function isHeldByPerson(tx: Tx, { taskId }: GatedRun, threadId: string): Promise<boolean> {
  await lockTask(tx.db, { id: taskId })
  const [thread] = await lockThread(tx.db, { id: threadId })
  return thread !== undefined && thread.held_by_kind !== null
}

interface PolicyCounterKeys {
  rule: string
  task: string
  day: string
}

/**
 * A rule is identified by the action that it matches, so its counters survive a change of its limits or its position. Of
 * two rules with the same action only the first is ever evaluated.
 */
function policyCounterKeys(tx: Tx, run: GatedRun, { action }: PolicyRule): PolicyCounterKeys {
  return {
    rule: `${run.wedge.slug}:${hash('sha256', action.toLowerCase()).slice(0, 16)}`,
    task: `task:${run.taskId}`,
    day: `day:${isoNow(tx).slice(0, 10)}`,
  }
}

/**
 * Takes one use of each cap and returns the counts before it. If a concurrent request took the last use of a cap, takes
 * none and returns which cap is reached.
 */
async function takePolicyUses(
  tx: Tx,
  project_id: string,
  keys: PolicyCounterKeys,
  rule: PolicyRule,
): Promise<PolicyCounts | { reached: keyof PolicyCounts }> {
  const before: PolicyCounts = { task: 0, day: 0 }
  const taken: string[] = []
  for (const [kind, cap] of [
    ['task', rule.max_per_task],
    ['day', rule.max_per_day],
  ] as const) {
    if (cap === undefined) continue
    const counter = { project_id, rule: keys.rule, span: keys[kind] }
    const [used] = await upsertPolicyUse(tx.db, { ...counter, cap })
    if (!used) {
      for (const span of taken) await undoPolicyUse(tx.db, { ...counter, span })
      return { reached: kind }
    }
    taken.push(keys[kind])
    before[kind] = used.used - 1
  }
  return before
}
