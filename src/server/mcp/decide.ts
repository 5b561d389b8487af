import { requireOneProject } from '../../identity/authentication/authenticate.ts'
import { findApproval, findDecidableApproval } from '../../approvals/requests/rows.ts'
import { listCurrentVotes } from '../../approvals/people/current-votes.ts'
import { type Decision, applyDecision } from '../../approvals/decisions/apply-decision.ts'
import { badRequest, conflict, notFound } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'

/** The tool has one field for the reason of a rejection, the note of an approval and what the agent must change. */
export type McpDecision = Omit<Decision, 'note'>

/** Decides about an approval, by the arguments of a tool or by a form. */
export async function decideFromMcp(ctx: Ctx, scope: Scope, id: string, given: McpDecision): Promise<void> {
  const { decision, reason } = given
  const project = requireOneProject(scope)
  const approval = await findDecidableApproval(ctx.db, project.projectIds, id)
  if (!approval) throw notFound('approval')
  if (decision === 'revise' && !reason?.trim()) throw badRequest("argument 'reason' is required with revise")
  await applyDecision(ctx, project, approval, { ...given, note: reason })
}

/** What has become of an approval, as a tool returns it. */
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
