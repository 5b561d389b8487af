import type { JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Approver } from '../people/approvers.ts'
import {
  type ApprovalOutcome,
  approveApproval,
  payloadChanged,
  rejectApproval,
  reviseApproval,
} from './decide-approval.ts'
import { holdApproval } from './hold-approval.ts'
import type { DecidableApproval } from '../requests/rows.ts'

export const DECISIONS = ['approve', 'reject', 'revise'] as const

/** What a person decides, wherever the approval was shown. */
export interface Decision {
  decision: (typeof DECISIONS)[number]
  /** Fields that replace those of the payload. */
  edited?: JsonObject | null | undefined
  /** The hash of the payload that the person has read; absent: the current one. */
  payload_sha256?: string | undefined
  /** The note of an approval, or what the agent must change. */
  note?: string | undefined
  /** Why it is rejected. */
  reason?: string | undefined
  /** Only of an approval: for how many seconds it can be withdrawn before it is made. */
  hold_s?: number | undefined
}

export type DecisionOutcome = ApprovalOutcome | { decision: 'rejected' } | { decision: 'held' }

/**
 * Takes the decision of a person, wherever it was made. Only a client's answer to a question has another way, because it is a
 * message as well. 409 if the payload is another one than the person has read.
 */
export async function applyDecision(
  ctx: Ctx,
  approver: Approver,
  approval: DecidableApproval,
  { decision, edited, payload_sha256, note, reason, hold_s: holdS = 0 }: Decision,
): Promise<DecisionOutcome> {
  if (payload_sha256 !== undefined && payload_sha256 !== approval.payload_sha256) throw payloadChanged()
  if (decision === 'approve') {
    const given = { edited: edited ?? undefined, note }
    if (holdS > 0) return holdApproval(ctx, approver, approval, { ...given, holdS })
    return approveApproval(ctx, approver, approval, given)
  }
  if (holdS > 0) throw badRequest("field 'hold_s' must be 0 unless the decision is 'approve'")
  if (decision === 'reject') await rejectApproval(ctx, approver, approval, reason)
  else if (note?.trim()) await reviseApproval(ctx, approver, approval, note.trim())
  else throw badRequest("field 'note' is required: it says what to change")
  return { decision: 'rejected' }
}
