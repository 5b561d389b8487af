import type { WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { RunFacts } from '../session/run-facts.ts'

/** Parts of tool names that always need the gate. */
const GATE_PATTERNS = ['send', 'charge', 'refund', 'book', 'delete', 'pay', 'transfer', 'purchase', 'publish', 'submit']

/** The general patterns and the required approvals of the wedge. */
export function listGatePatterns(manifest: WedgeManifest): string[] {
  const required = manifest.approvals.filter((approval) => approval.required)
  return [...GATE_PATTERNS, ...required.map(({ action }) => action.toLowerCase())]
}

export function matchesGate({ gatePatterns }: Pick<RunFacts, 'gatePatterns'>, tool: string): boolean {
  const name = tool.toLowerCase()
  return gatePatterns.some((pattern) => name.includes(pattern))
}
