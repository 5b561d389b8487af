import { parseRole } from '../accounts/member-rows.ts'
import { findDecidingMember } from '../approvals/approver-rows.ts'
import type { Decider } from '../approvals/approvers.ts'
import { approveApproval, payloadChanged, rejectApproval, reviseApproval } from '../approvals/decide-approval.ts'
import { readApproveResult } from '../approvals/read-approvals.ts'
import { findDecidableApproval } from '../approvals/rows.ts'
import type { JsonObject } from '../base/json.ts'
import { badRequest, forbidden, notFound } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'

/** A decision that a member takes outside of the console: on the decision page, or with a button of a message. */
export interface MemberDecision {
  projectId: string
  memberId: string
  approvalId: string
  /** The payload that the member saw; absent: the current one. */
  payloadSha256?: string | undefined
  decision: 'approve' | 'reject' | 'revise'
  edited?: JsonObject | undefined
  /** The note of an approval, or what to change. */
  note?: string | undefined
  /** Why it is rejected. */
  reason?: string | undefined
  /** See `Decider`. */
  useCredential?: Decider['useCredential']
}

/**
 * Decides with the member's role of now, as if the member had called the API: a member who was removed, got a lower role
 * or is no approver any more gets a 403. 409 if the approval is decided, or if the payload has changed.
 */
export async function decideAsMember(ctx: Ctx, choice: MemberDecision) {
  const { projectId, memberId, approvalId, payloadSha256, edited, note, reason, useCredential } = choice
  const [member] = await findDecidingMember(ctx.db, { id: memberId, project_id: projectId })
  if (!member) throw forbidden('you are not a member any more')
  const approval = await findDecidableApproval(ctx.db, [projectId], approvalId)
  if (!approval) throw notFound('approval')
  if (payloadSha256 !== undefined && payloadSha256 !== approval.payload_sha256) throw payloadChanged()
  const actor = { kind: 'member', id: memberId } as const
  const decider: Decider = { actor, role: parseRole(member.role), ...(useCredential && { useCredential }) }
  if (choice.decision === 'approve') {
    return readApproveResult(ctx.db, approvalId, await approveApproval(ctx, decider, approval, { edited, note }))
  }
  if (choice.decision === 'reject') await rejectApproval(ctx, decider, approval, reason)
  else if (note === undefined || note.trim() === '')
    throw badRequest("field 'note' is required: it says what to change")
  else await reviseApproval(ctx, decider, approval, note)
  return { ok: true, decision: 'rejected' } as const
}
