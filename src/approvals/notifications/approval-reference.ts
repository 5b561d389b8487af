/** Which request a button or a form is for: the approval, and the payload that the person saw. */
export interface ApprovalReference {
  approvalId: string
  /** The beginning of the payload's hash: a button of Telegram carries at most 64 bytes. */
  payloadHash: string
}

/** 96 bits: nobody finds a second payload with the same beginning. */
const HASH_CHARACTERS = 24
const REFERENCE = /^(apr_[0-9a-z]{26}):([0-9a-f]{24})$/

export const encodeReference = ({ approvalId, payloadHash }: ApprovalReference): string =>
  `${approvalId}:${payloadHash.slice(0, HASH_CHARACTERS)}`

/** Null for a text that is no reference. */
export function parseReference(text: string): ApprovalReference | null {
  const [, approvalId = '', payloadHash = ''] = REFERENCE.exec(text) ?? []
  return approvalId ? { approvalId, payloadHash } : null
}

/** True while the approval still asks for what the person saw. */
export const isSamePayload = ({ payloadHash }: ApprovalReference, payload_sha256: string): boolean =>
  payloadHash.length === HASH_CHARACTERS && payload_sha256.startsWith(payloadHash)
