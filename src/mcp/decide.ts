import { requireOneProject } from '../accounts/authenticate.ts'
import { approveApproval, payloadChanged, rejectApproval, reviseApproval } from '../approvals/decide-approval.ts'
import { findApproval, findDecidableApproval } from '../approvals/rows.ts'
import { listCurrentVotes } from '../approvals/current-votes.ts'
import type { JsonObject } from '../base/json.ts'
import { badRequest, conflict, notFound } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'

export const DECISIONS = ['approve', 'reject', 'revise'] as const

export interface McpDecision {
  decision: (typeof DECISIONS)[number]
  edited?: JsonObject | undefined
  reason?: string | undefined
  /** The hash of the payload that the person has read. */
  payload_sha256?: string | undefined
}

/** Decides about an approval, by the arguments of a tool or by a form. */
export async function decideFromMcp(ctx: Ctx, scope: Scope, id: string, given: McpDecision): Promise<void> {
  const { decision, edited, reason, payload_sha256 } = given
  const project = requireOneProject(scope)
  const approval = await findDecidableApproval(ctx.db, project.projectIds, id)
  if (!approval) throw notFound('approval')
  if (payload_sha256 !== undefined && payload_sha256 !== approval.payload_sha256) throw payloadChanged()
  if (decision === 'approve') await approveApproval(ctx, project, approval, { edited, note: reason })
  else if (decision === 'reject') await rejectApproval(ctx, project, approval, reason)
  else if (reason?.trim()) await reviseApproval(ctx, project, approval, reason)
  else throw badRequest("argument 'reason' is required with revise")
}

/** What has become of an approval, as a tool tells it. */
export async function readDecision(ctx: Ctx, scope: Scope, id: string) {
  const row = await findApproval(ctx.db, scope.projectIds, id)
  if (!row) throw notFound('approval')
  const { id: approval_id, task_id, status, needed } = row
  if (status === 'pending') {
    const votes = needed > 1 ? (await listCurrentVotes(ctx.db, [id])).length : 0
    return { approval_id, task_id, decision: 'pending', votes, needed }
  }
  if (status === 'expired') throw conflict('approval already decided (expired)')
  return { approval_id, task_id, decision: status === 'rejected' ? 'rejected' : 'approved' }
}
