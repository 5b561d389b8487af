import { createHash } from 'node:crypto'
import { canonical } from '../base/json.ts'
import type { PolicyRule } from '../base/wedge.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import type { AskingRun, GatedRequest } from './ask.ts'
import { answer, firstMatch } from './policy.ts'
import { unuseRule, useRule, usesOf } from './rows.ts'

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
  const verdict = answer(rules, { action, payload }, () => counts)
  if (!verdict.approve || !(await use(tx, run.projectId, counters, rule))) return null
  return { rule, reason: verdict.reason }
}

interface Counters {
  rule: string
  task: string
  day: string
}

/** A rule is known by its words, so a changed rule starts anew and a moved one goes on. */
function countersOf(tx: Tx, run: AskingRun, rule: PolicyRule): Counters {
  const words = canonical(JSON.parse(JSON.stringify(rule)))
  return {
    rule: `${run.wedge.slug}:${createHash('sha256').update(words).digest('hex').slice(0, 16)}`,
    task: `task:${run.taskId}`,
    day: `day:${isoTime(tx.world.clock.now()).slice(0, 10)}`,
  }
}

/** Takes one use of each cap, or none: another run may have taken the last since we counted. */
async function use(tx: Tx, projectId: string, counters: Counters, rule: PolicyRule): Promise<boolean> {
  const taken: string[] = []
  for (const [span, cap] of [
    [counters.task, rule.max_per_task],
    [counters.day, rule.max_per_day],
  ] as const) {
    if (cap === undefined) continue
    const [used] = await useRule(tx.db, { project_id: projectId, rule: counters.rule, span, cap })
    if (used) taken.push(span)
    else {
      for (const back of taken) await unuseRule(tx.db, { project_id: projectId, rule: counters.rule, span: back })
      return false
    }
  }
  return true
}
