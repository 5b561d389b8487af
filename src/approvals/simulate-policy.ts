import type { Json } from '../base/json.ts'
import type { PolicyRule } from '../contract/wedge-manifest.ts'
import { evaluatePolicy, type PolicyCounts } from '../contract/policy.ts'

/** A gated request of the past, as the policy saw it. */
export interface PastGatedRequest {
  taskId: string
  action: string
  payload: Json
  /** ISO time; its first ten characters are the UTC day. */
  createdAt: string
  /** The task had switched policy off. */
  approvalRequired: boolean
}

export interface SimulatedDecision {
  would: 'pass' | 'gate'
  reason: string
}

/**
 * What the proposed rules would have answered to the requests, given in the order in which they were made. The
 * counters start at zero, so what passes uses up the caps for what follows.
 */
export function simulatePolicy(rules: PolicyRule[], requests: readonly PastGatedRequest[]): SimulatedDecision[] {
  const used = new Map<string, number>()
  return requests.map((request) => {
    if (request.approvalRequired) return { would: 'gate', reason: 'the task asked for a person on every action' }
    const spans = (rule: number) => countedSpans(rule, request)
    const said = evaluatePolicy(rules, request, (rule) => countsOfSpans(used, spans(rule)))
    if (!said.approve) return { would: 'gate', reason: said.reason }
    for (const span of Object.values(spans(said.rule))) used.set(span, (used.get(span) ?? 0) + 1)
    return { would: 'pass', reason: said.reason }
  })
}

function countedSpans(rule: number, { taskId, createdAt }: PastGatedRequest) {
  return { task: `${rule} task ${taskId}`, day: `${rule} day ${createdAt.slice(0, 10)}` }
}

function countsOfSpans(used: ReadonlyMap<string, number>, { task, day }: { task: string; day: string }): PolicyCounts {
  return { task: used.get(task) ?? 0, day: used.get(day) ?? 0 }
}
