import { hash } from 'node:crypto'
import { evaluatePolicy, firstMatchingRule, type PolicyCounts } from '../contract/policy.ts'
import type { PolicyRule } from '../contract/wedge-manifest.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { GatedRun, GatedRequest } from './gated-request.ts'
import { undoPolicyUse, upsertPolicyUse, countPolicyUses } from './policy-counter-rows.ts'

/**
 * Asks the wedge's rules and, when one approves, uses its counters in the transaction that writes the approval.
 * A refusal uses nothing. Null: a person decides.
 */
export async function applyPolicy(
  tx: Tx,
  run: GatedRun,
  { action, payload }: GatedRequest,
): Promise<{ rule: PolicyRule; reason: string } | null> {
  if (run.constraints.approval_required) return null
  const rules = run.wedge.manifest.policy.auto_approve
  const rule = rules[firstMatchingRule(rules, action) ?? -1]
  if (!rule) return null
  const counters = policyCounterKeys(tx, run, rule)
  const counts = {
    task: await countPolicyUses(tx.db, run.projectId, counters.rule, counters.task),
    day: await countPolicyUses(tx.db, run.projectId, counters.rule, counters.day),
  }
  if (!evaluatePolicy(rules, { action, payload }, () => counts).approve) return null
  const taken = await takePolicyUses(tx, run.projectId, counters, rule)
  // Others may have used the rule since we counted: the reason tells the use that is ours.
  const verdict = taken && evaluatePolicy(rules, { action, payload }, () => taken)
  return verdict?.approve ? { rule, reason: verdict.reason } : null
}

interface PolicyCounterKeys {
  rule: string
  task: string
  day: string
}

/**
 * A rule is known by what it matches, so what was used stays used when its limits change, or it is moved. Of two rules
 * for the same only the first is ever asked.
 */
function policyCounterKeys(tx: Tx, run: GatedRun, { action }: PolicyRule): PolicyCounterKeys {
  return {
    rule: `${run.wedge.slug}:${hash('sha256', action.toLowerCase()).slice(0, 16)}`,
    task: `task:${run.taskId}`,
    day: `day:${isoNow(tx).slice(0, 10)}`,
  }
}

/** Takes one use of each cap and answers what was used before, or takes none: another may have taken the last. */
async function takePolicyUses(
  tx: Tx,
  project_id: string,
  counters: PolicyCounterKeys,
  rule: PolicyRule,
): Promise<PolicyCounts | null> {
  const before: PolicyCounts = { task: 0, day: 0 }
  const taken: string[] = []
  for (const [kind, cap] of [
    ['task', rule.max_per_task],
    ['day', rule.max_per_day],
  ] as const) {
    if (cap === undefined) continue
    const counter = { project_id, rule: counters.rule, span: counters[kind] }
    const [used] = await upsertPolicyUse(tx.db, { ...counter, cap })
    if (!used) {
      for (const span of taken) await undoPolicyUse(tx.db, { ...counter, span })
      return null
    }
    taken.push(counters[kind])
    before[kind] = used.used - 1
  }
  return before
}
