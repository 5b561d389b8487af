import { parseRole } from '../../../identity/organisations/member-rows.ts'
import { findApproverMember } from '../../people/approver-rows.ts'
import type { Approver } from '../../people/approvers.ts'
import { findDecidableApproval } from '../../requests/rows.ts'
import { type Decision, type DecisionOutcome, applyDecision } from '../../decisions/apply-decision.ts'
import { forbidden, notFound } from '../../../platform/base/problem.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'

/** Who decides about what. */
export interface MemberAndApproval {
  project_id: string
  member_id: string
  approval_id: string
}

/**
 * Takes a decision of a member outside of the console, on the decision page or with a button of a message, with the
 * member's current role: a member who was removed, got a lower role or is no approver any more gets a 403. 409 if the
 * approval is decided, or if the payload has changed.
 */
export async function decideAsMember(
  ctx: Ctx,
  { project_id, member_id, approval_id }: MemberAndApproval,
  decision: Decision,
  credential: Pick<Approver, 'useCredential' | 'linkHash'> = {},
): Promise<DecisionOutcome> {
  const [member] = await findApproverMember(ctx.db, { id: member_id, project_id })
  if (!member) throw forbidden('you are not a member any more')
  const approval = await findDecidableApproval(ctx.db, [project_id], approval_id)
  if (!approval) throw notFound('approval')
  const approver = { actor: { kind: 'member', id: member_id }, role: parseRole(member.role), ...credential } as const
  return applyDecision(ctx, approver, approval, decision)
}
