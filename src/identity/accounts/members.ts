import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, forbidden, notFound } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { type Role, isRoleAtLeast, type Scope } from '../../platform/ctx/scope.ts'
import { roleForbidden } from '../authentication/authenticate.ts'
import { deleteMember, findMember, hasOtherOwner, type Member, updateMember } from '../organisations/member-rows.ts'
import { lockOrganisation } from '../organisations/organisation-rows.ts'

export interface MemberChange {
  name?: string | null | undefined
  role?: Role | undefined
}

export async function changeMember(ctx: Ctx, scope: Scope, id: string, { name, role }: MemberChange): Promise<Member> {
  return inTx(ctx, async (tx) => {
    const member = await findMemberLocked(tx, scope, id)
    const changed = { ...member, name: name === undefined ? member.name : name, role: role ?? member.role }
    requireOwnerForOwnerRole(scope, changed.role)
    refuseRaisingInvite(member, changed.role)
    if (changed.role !== 'owner') await refuseRemovingLastOwner(tx, member)
    await updateMember(tx.db, id, { name: changed.name, role: changed.role })
    await appendAuditEntry(tx, scope.orgId, scope.actor, 'member.updated', id, { role: changed.role })
    return changed
  })
}

/** Also ends the member's sessions and streams, or withdraws the open invite. */
export async function removeMember(ctx: Ctx, scope: Scope, id: string): Promise<void> {
  await inTx(ctx, async (tx) => {
    const member = await findMemberLocked(tx, scope, id)
    await refuseRemovingLastOwner(tx, member)
    await deleteMember(tx.db, id)
    tx.publishAfterCommit({ topic: 'member-removed', id })
    await appendAuditEntry(tx, scope.orgId, scope.actor, 'member.deleted', id, { role: member.role })
  })
}

/** Members and projects belong to the organisation, but an API key is limited to its project. */
export function refuseApiKeys(scope: Scope): void {
  if (scope.actor.kind === 'key') throw forbidden('a project key cannot do this')
}

/** Only owners can invite, change and remove owners. */
export function requireOwnerForOwnerRole(scope: Scope, role: Role): void {
  if (role === 'owner' && scope.role !== 'owner') throw roleForbidden(scope)
}

/** The creator of the invite may still have its token, and could use it to get a higher role than their own. */
function refuseRaisingInvite({ password, role }: Member, to: Role): void {
  if (password !== null || isRoleAtLeast(role, to)) return
  throw conflict('the role of an open invite cannot be raised: send a new invite')
}

/** Locks the organisation, so that its members change one after the other. */
async function findMemberLocked(tx: Tx, scope: Scope, id: string): Promise<Member> {
  await lockOrganisation(tx.db, scope.orgId)
  const member = await findMember(tx.db, scope.orgId, id)
  if (!member) throw notFound('member')
  requireOwnerForOwnerRole(scope, member.role)
  return member
}

async function refuseRemovingLastOwner(tx: Tx, member: Member): Promise<void> {
  if (member.role !== 'owner' || member.password === null) return
  if (!(await hasOtherOwner(tx.db, member.org_id, member.id)))
    throw conflict('the organisation must keep at least one owner')
}
