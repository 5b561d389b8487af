import { parseRole } from '../../identity/organisations/member-rows.ts'
import { forbidden } from '../../platform/base/problem.ts'
import { CLIENT_APPROVER } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { type Actor, isRoleAtLeast, ROLES, type Role } from '../../platform/ctx/scope.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import type { LockedTask } from '../../work/tasks/rows.ts'
import { type ApproverMember, findApproverMember } from './approver-rows.ts'
import { parseApprovers } from '../requests/view.ts'

/** Who decides. The role is that of the credential; clients and the service itself have none. */
export interface Approver {
  actor: Actor
  role?: Role
  /** Uses up a credential that works once, in the transaction of the decision. Throws if it was used before. */
  useCredential?: (tx: Tx) => Promise<void>
  /** The hash of the decision link that is this credential, for an approval that is held. */
  linkHash?: string
}

/** What an approval says about the people who decide. */
export type ApproverRules = Pick<ApprovalRow, 'project_id' | 'path' | 'client_id' | 'approvers' | 'excludes_requester'>

/**
 * Throws a 403 if the caller may not decide now. Every decision is checked here, inside its transaction, so a member who
 * was removed or got a lower role after a message was sent cannot decide any more.
 */
export async function requireApprover(
  tx: Tx,
  row: ApproverRules,
  task: Pick<LockedTask, 'requested_by_id'>,
  approver: Approver,
): Promise<void> {
  const { actor } = approver
  if (actor.kind === 'system') return
  if (actor.kind === 'client') {
    if (row.client_id === actor.id && (row.path === 'question' || isClientApprover(row))) return
    throw forbidden('only the team decides about this approval')
  }
  if (isExcludedRequester(row, task.requested_by_id, actor.id))
    throw forbidden('who started the task may not decide about this approval')
  const identity = await findApproverIdentity(tx, row, approver)
  if (!identity || !isApprover(row, identity)) throw forbidden('you are not an approver of this request')
}

/** Whether this member or key started the task and may therefore not decide. */
export const isExcludedRequester = (
  row: Pick<ApprovalRow, 'excludes_requester'>,
  requestedById: string | null | undefined,
  id: string,
): boolean => row.excludes_requester === 1 && requestedById === id

/** Whether the client of the task decides, alone or with others. */
export const isClientApprover = (row: Pick<ApprovalRow, 'approvers'>): boolean =>
  parseApprovers(row)?.includes(CLIENT_APPROVER) ?? false

/** A person or key as the list of approvers sees it. A key counts by its role only. */
export type ApproverIdentity = Pick<ApproverMember, 'id' | 'role' | 'email'> | { role: Role; id: null; email: null }

async function findApproverIdentity(
  tx: Tx,
  { project_id }: ApproverRules,
  { actor, role }: Approver,
): Promise<ApproverIdentity | null> {
  if (role === undefined) return null
  if (actor.kind === 'key') return { role, id: null, email: null }
  const [member] = actor.kind === 'member' ? await findApproverMember(tx.db, { id: actor.id, project_id }) : []
  if (!member) return null
  const current = parseRole(member.role)
  // A credential may have a lower role than its member.
  return { ...member, role: isRoleAtLeast(role, current) ? current : role }
}

/** Whether the role allows decisions, and the list of approvers names the role, a lower one, or the member. */
export function isApprover(row: Pick<ApprovalRow, 'approvers'>, { role, id, email }: ApproverIdentity): boolean {
  if (!isRoleAtLeast(parseRole(role), 'operator')) return false
  const approvers = parseApprovers(row)
  if (approvers === null) return true
  return approvers.some((approver) => {
    const named = ROLES.find((one) => one === approver)
    if (named) return isRoleAtLeast(parseRole(role), named)
    return approver === id || approver.toLowerCase() === email?.toLowerCase()
  })
}
