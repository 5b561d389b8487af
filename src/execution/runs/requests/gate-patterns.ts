import type { WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { TaskRun } from '../session/task-run.ts'

/** Parts of tool names that always need the gate. */
const GATE_PATTERNS = ['send', 'charge', 'refund', 'book', 'delete', 'pay', 'transfer', 'purchase', 'publish', 'submit']

/** The general patterns and the required approvals of the wedge. */
export function listGatePatterns(manifest: WedgeManifest): string[] {
  const required = manifest.approvals.filter((approval) => approval.required)
  return [...GATE_PATTERNS, ...required.map(({ action }) => action.toLowerCase())]
}

export function matchesGate(run: Pick<TaskRun, 'gatePatterns'>, tool: string): boolean {
  const name = tool.toLowerCase()
  return run.gatePatterns.some((pattern) => name.includes(pattern))
}
