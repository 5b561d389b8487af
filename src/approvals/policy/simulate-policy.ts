import {
  APPROVAL_REQUIRED_REASON,
  evaluatePolicy,
  type PolicyCounts,
  type PolicyRequest,
} from '../../platform/contract/policy.ts'
import type { PolicyRule } from '../../platform/contract/wedge/wedge-manifest.ts'

/** A gated request of the past. */
export interface PastGatedRequest extends PolicyRequest {
  taskId: string
  /** ISO time; its first ten characters are the UTC day. */
  createdAt: string
  /** The task required approval for every action, so no rule applied. */
  approvalRequired: boolean
}

export interface SimulatedDecision {
  would: 'pass' | 'gate'
  reason: string
}

/**
 * What the proposed rules would have decided, for requests in the order in which they were made. The counters start at
 * zero, and each auto-approval uses up the caps for the requests that follow.
 */
export function simulatePolicy(rules: PolicyRule[], requests: readonly PastGatedRequest[]): SimulatedDecision[] {
  const used = new Map<string, number>()
  return requests.map((request) => {
    if (request.approvalRequired) return { would: 'gate', reason: APPROVAL_REQUIRED_REASON }
    const spans = (rule: number) => countedSpans(rule, request)
    const verdict = evaluatePolicy(rules, request, (rule) => countsOfSpans(used, spans(rule)))
    if (!verdict.approve) return { would: 'gate', reason: verdict.reason }
    for (const span of Object.values(spans(verdict.rule))) used.set(span, (used.get(span) ?? 0) + 1)
    return { would: 'pass', reason: verdict.reason }
  })
}

function countedSpans(rule: number, { taskId, createdAt }: PastGatedRequest) {
  return { task: `${rule} task ${taskId}`, day: `${rule} day ${createdAt.slice(0, 10)}` }
}

function countsOfSpans(used: ReadonlyMap<string, number>, { task, day }: { task: string; day: string }): PolicyCounts {
  return { task: used.get(task) ?? 0, day: used.get(day) ?? 0 }
}
