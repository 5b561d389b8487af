import type { ApprovalReference } from './approval-reference.ts'
import type { Card } from './card.ts'

/** The button that withdraws an approval. */
export const UNDO_TEXT = 'Undo'

/** What has become of the request so far; null: nothing. */
export const requestStatus = ({ outcome, held, progress }: Card): string | null => outcome ?? held ?? progress

/** The decisions that a chat offers, in the order of the buttons. */
export const CHAT_DECISIONS = ['approve', 'edit', 'revise', 'reject'] as const
export type ChatDecision = (typeof CHAT_DECISIONS)[number]

/** The buttons of a request: what a member can do, with its word. The edit of a question is its answer. */
export function decisionButtons({ decisions }: Card): { decision: ChatDecision; text: string }[] {
  const edit = decisions.some((one) => one === 'approve') ? 'Edit' : 'Answer'
  const texts = { approve: 'Approve', edit, revise: 'Send back', reject: 'Reject' }
  return CHAT_DECISIONS.filter((decision) => decisions.some((one) => one === decision)).map((decision) => ({
    decision,
    text: texts[decision],
  }))
}

/** An edit of a question answers it, and nothing else is approved. */
export const isQuestionCard = ({ decisions }: Card): boolean => !decisions.some((one) => one === 'approve')

/** What a message says about a request besides its title. */
export function factsOf({ isUnverified, risk, amount, client, wedge, rule }: Card): string[] {
  const facts = [
    isUnverified && UNVERIFIED_TEXT,
    `Risk: ${risk}`,
    amount && `Amount: ${amount}`,
    client && `Client: ${client}`,
    `Wedge: ${wedge}`,
    rule,
  ]
  return facts.flatMap((fact) => fact || [])
}

export const UNVERIFIED_TEXT = 'Sender not verified'

export const referenceOf = ({ approvalId, payloadSha256 }: Card): ApprovalReference => ({
  approvalId,
  payloadHash: payloadSha256,
})
