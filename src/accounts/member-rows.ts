import type { Role } from '../ctx/scope.ts'
import type { PageQuery } from '../http/page.ts'
import { listNewestPage } from '../store/newest-page.ts'
import type { Db } from '../store/store.ts'
import type { MemberRow } from '../store/tables.ts'
import { parseRole } from './stored-role.ts'

export type Member = Omit<MemberRow, 'role'> & { role: Role }

/**
 * False when the email is taken: with a password it names one member over all organisations, and of open invites one in
 * each.
 */
export async function insertMember(db: Db, row: Member): Promise<boolean> {
  const query = db
    .insertInto('members')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
  return (await query.returning('id').execute()).length > 0
}

export async function findMember(db: Db, orgId: string, id: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('org_id', '=', orgId).where('id', '=', id)
  return toMember(await query.executeTakeFirst())
}

/** Whose email it is; an open invite makes it nobody's. */
export async function findMemberByEmail(db: Db, email: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('email', '=', email)
  return toMember(await query.where('password', 'is not', null).executeTakeFirst())
}

/** Of one organisation to an email. */
export async function findOpenInvite(db: Db, orgId: string, email: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('org_id', '=', orgId).where('email', '=', email)
  return toMember(await query.where('password', 'is', null).executeTakeFirst())
}

/** Held until the commit, so that nobody removes the member meanwhile; undefined when it is gone or its password another. */
export function lockMember(db: Db, member: Member): Promise<Member | undefined> {
  return updatePassword(db, member, member.password)
}

/** Undefined when the member is gone or its password another. */
export async function updatePassword(db: Db, { id, password }: Member, to: string | null): Promise<Member | undefined> {
  const query = db.updateTable('members').set({ password: to }).where('id', '=', id).where('password', '=', password)
  return toMember(await query.returningAll().executeTakeFirst())
}

export async function findInvitedMember(db: Db, inviteHash: string, now: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('invite_hash', '=', inviteHash)
  return toMember(await query.where('password', 'is', null).where('invite_expires_at', '>', now).executeTakeFirst())
}

export async function listMembers(db: Db, orgId: string, page: PageQuery): Promise<Member[]> {
  const query = db.selectFrom('members').selectAll().where('org_id', '=', orgId)
  const rows = await listNewestPage(query, page)
  return rows.map((row) => ({ ...row, role: parseRole(row.role) }))
}

export async function updateMember(db: Db, id: string, change: Pick<Member, 'name' | 'role'>): Promise<void> {
  await db.updateTable('members').set(change).where('id', '=', id).execute()
}

/** Undefined when the earlier invite was accepted meanwhile: no invite may open an account that has a password. */
export async function updateOpenInvite(
  db: Db,
  id: string,
  invite: Pick<Member, 'role' | 'invite_hash' | 'invite_expires_at'>,
): Promise<Member | undefined> {
  const query = db.updateTable('members').set(invite).where('id', '=', id).where('password', 'is', null)
  return toMember(await query.returningAll().executeTakeFirst())
}

/** Uses the invite up and sets the password; undefined when it was used or ran out meanwhile. */
export async function updateInviteAsAccepted(
  db: Db,
  inviteHash: string,
  now: string,
  { password, name }: { password: string; name: string | undefined },
): Promise<Member | undefined> {
  const query = db
    .updateTable('members')
    .set({ password, invite_hash: null, invite_expires_at: null, ...(name !== undefined && { name }) })
    .where('invite_hash', '=', inviteHash)
    .where('password', 'is', null)
    .where('invite_expires_at', '>', now)
  return toMember(await query.returningAll().executeTakeFirst())
}

/** The member's sessions go with it. */
export async function deleteMember(db: Db, id: string): Promise<void> {
  await db.deleteFrom('members').where('id', '=', id).execute()
}

/** Whether someone else could still act as an owner; open invitations cannot. */
export async function hasOtherOwner(db: Db, orgId: string, memberId: string): Promise<boolean> {
  const query = db.selectFrom('members').select('id').where('org_id', '=', orgId).where('role', '=', 'owner')
  const other = await query.where('password', 'is not', null).where('id', '!=', memberId).limit(1).executeTakeFirst()
  return other !== undefined
}

function toMember(row: MemberRow | undefined): Member | undefined {
  return row && { ...row, role: parseRole(row.role) }
}
