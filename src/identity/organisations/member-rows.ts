import { ROLES, type Role } from '../../platform/ctx/scope.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage } from '../../platform/store/newest-page.ts'
import type { Db } from '../../platform/store/store.ts'
import type { MemberRow } from '../../platform/store/tables.ts'

export type Member = Omit<MemberRow, 'role'> & { role: Role }

/**
 * False when the email is in use. Among members with a password an email is unique over all organisations, among open
 * invites it is unique per organisation.
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

/** The member with this email and a password; an open invite does not count. */
export async function findMemberByEmail(db: Db, email: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('email', '=', email)
  return toMember(await query.where('password', 'is not', null).executeTakeFirst())
}

/** The organisation's open invite to this email. */
export async function findOpenInvite(db: Db, orgId: string, email: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('org_id', '=', orgId).where('email', '=', email)
  return toMember(await query.where('password', 'is', null).executeTakeFirst())
}

/** Locks the member until the commit; undefined when it was removed or its password changed. */
export function lockMember(db: Db, member: Member): Promise<Member | undefined> {
  return updatePassword(db, member, member.password)
}

/** Undefined when the member was removed or its password changed. */
export async function updatePassword(
  db: Db,
  { id, password }: Member,
  newPassword: string | null,
): Promise<Member | undefined> {
  const query = db
    .updateTable('members')
    .set({ password: newPassword })
    .where('id', '=', id)
    .where('password', '=', password)
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

/** Undefined when the invite was accepted meanwhile: an account with a password must not get a new invite. */
export async function updateOpenInvite(
  db: Db,
  id: string,
  invite: Pick<Member, 'role' | 'invite_hash' | 'invite_expires_at'>,
): Promise<Member | undefined> {
  const query = db.updateTable('members').set(invite).where('id', '=', id).where('password', 'is', null)
  return toMember(await query.returningAll().executeTakeFirst())
}

/** Removes the invite and sets the password; undefined when the invite was used or expired meanwhile. */
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

/** Also deletes the member's sessions. */
export async function deleteMember(db: Db, id: string): Promise<void> {
  await db.deleteFrom('members').where('id', '=', id).execute()
}

/** Open invites do not count as owners. */
export async function hasOtherOwner(db: Db, orgId: string, memberId: string): Promise<boolean> {
  const query = db.selectFrom('members').select('id').where('org_id', '=', orgId).where('role', '=', 'owner')
  const other = await query.where('password', 'is not', null).where('id', '!=', memberId).limit(1).executeTakeFirst()
  return other !== undefined
}

function toMember(row: MemberRow | undefined): Member | undefined {
  return row && { ...row, role: parseRole(row.role) }
}

export function parseRole(text: string): Role {
  const role = ROLES.find((one) => one === text)
  if (!role) throw new Error(`the store has an unknown role '${text}'`)
  return role
}
