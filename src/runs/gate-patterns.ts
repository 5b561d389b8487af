import type { WedgeManifest } from '../contract/wedge-manifest.ts'

/** Tool names that always stop at the gate, as substrings; the wedge's required approvals join them. */
const GATE_PATTERNS = ['send', 'charge', 'refund', 'book', 'delete', 'pay', 'transfer', 'purchase', 'publish', 'submit']

export const gatePatterns = (manifest: Pick<WedgeManifest, 'approvals'>): string[] => [
  ...GATE_PATTERNS,
  ...manifest.approvals.filter(({ required }) => required).map(({ action }) => action.toLowerCase()),
]
