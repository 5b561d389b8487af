import { hash } from 'node:crypto'
import { answer, firstMatch, type PolicyCounts } from '../base/policy.ts'
import type { PolicyRule } from '../base/wedge.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { AskingRun, GatedRequest } from './asking.ts'
import { unuseRule, useRule, usesOf } from './counter-rows.ts'

/**
 * Asks the wedge's rules and, when one approves, uses its counters in the transaction that writes the approval.
 * A refusal uses nothing. Null: a person decides.
 */
export async function consultPolicy(
  tx: Tx,
  run: AskingRun,
  { action, payload }: GatedRequest,
): Promise<{ rule: PolicyRule; reason: string } | null> {
  if (run.constraints.approval_required) return null
  const rules = run.wedge.manifest.policy.auto_approve
  const rule = rules[firstMatch(rules, action) ?? -1]
  if (!rule) return null
  const counters = countersOf(tx, run, rule)
  const counts = {
    task: await usesOf(tx.db, run.projectId, counters.rule, counters.task),
    day: await usesOf(tx.db, run.projectId, counters.rule, counters.day),
  }
  if (!answer(rules, { action, payload }, () => counts).approve) return null
  const taken = await use(tx, run.projectId, counters, rule)
  // Others may have used the rule since we counted: the reason tells the use that is ours.
  const verdict = taken && answer(rules, { action, payload }, () => taken)
  return verdict?.approve ? { rule, reason: verdict.reason } : null
}

interface Counters {
  rule: string
  task: string
  day: string
}

/**
 * A rule is known by what it matches, so what was used stays used when its limits change, or it is moved. Of two rules
 * for the same only the first is ever asked.
 */
function countersOf(tx: Tx, run: AskingRun, { action }: PolicyRule): Counters {
  return {
    rule: `${run.wedge.slug}:${hash('sha256', action.toLowerCase()).slice(0, 16)}`,
    task: `task:${run.taskId}`,
    day: `day:${isoNow(tx).slice(0, 10)}`,
  }
}

/** Takes one use of each cap and answers what was used before, or takes none: another may have taken the last. */
async function use(tx: Tx, project_id: string, counters: Counters, rule: PolicyRule): Promise<PolicyCounts | null> {
  const before: PolicyCounts = { task: 0, day: 0 }
  const taken: string[] = []
  for (const [kind, cap] of [
    ['task', rule.max_per_task],
    ['day', rule.max_per_day],
  ] as const) {
    if (cap === undefined) continue
    const counter = { project_id, rule: counters.rule, span: counters[kind] }
    const [used] = await useRule(tx.db, { ...counter, cap })
    if (!used) {
      for (const span of taken) await unuseRule(tx.db, { ...counter, span })
      return null
    }
    taken.push(counters[kind])
    before[kind] = used.used - 1
  }
  return before
}
