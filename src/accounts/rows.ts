import { ROLES, type Role } from '../ctx/scope.ts'
import type { PageQuery } from '../http/page.ts'
import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { Members, Organisations, Projects } from '../store/tables.ts'

export type Organisation = Organisations
export type Project = Omit<Projects, 'wedges'> & { wedges: string[] | null }
export type Member = Omit<Members, 'role'> & { role: Role }

// Organisations

/** False when the store already has its founding organisation. */
export async function insertOrganisation(db: Db, row: Organisation): Promise<boolean> {
  const query = db
    .insertInto('organisations')
    .values(row)
    .onConflict((conflict) => conflict.column('founding').doNothing())
  return (await query.returning('id').execute()).length > 0
}

/** The organisation that the first start made, locked until the commit. */
export function lockFounding(db: Db): Promise<Organisation> {
  return db
    .updateTable('organisations')
    .set({ founding: 1 })
    .where('founding', '=', 1)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/**
 * Held until the commit: what must be looked at before it is added, such as a name that is taken or a number that is
 * reached, is added to a project by one transaction at a time.
 */
export async function lockProject(db: Db, projectId: string): Promise<void> {
  await db
    .updateTable('projects')
    .set((eb) => ({ slug: eb.ref('slug') }))
    .where('id', '=', projectId)
    .execute()
}

/** Members of one organisation change one after the other, so it never loses its last owner. */
export async function lockOrganisation(db: Db, orgId: string): Promise<void> {
  await db
    .updateTable('organisations')
    .set((eb) => ({ name: eb.ref('name') }))
    .where('id', '=', orgId)
    .execute()
}

export async function renameOrganisation(db: Db, orgId: string, name: string): Promise<void> {
  await db.updateTable('organisations').set({ name }).where('id', '=', orgId).execute()
}

export function findOrganisation(db: Db, orgId: string): Promise<Organisation> {
  return db.selectFrom('organisations').selectAll().where('id', '=', orgId).executeTakeFirstOrThrow()
}

/** Whether somebody owns the founding organisation already. */
export async function isFoundingOwned(db: Db): Promise<boolean> {
  const owner = await db
    .selectFrom('members')
    .innerJoin('organisations', 'organisations.id', 'members.org_id')
    .select('members.id')
    .where('organisations.founding', '=', 1)
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

/** Whether a project is of the organisation that the first start made: the operator's own. */
export async function isOfFounding(db: Db, projectId: string): Promise<boolean> {
  const [found] = await foundingByProject(db, { projectId })
  return found?.founding === 1
}

const foundingByProject = prepared<{ projectId: string }, Pick<Organisations, 'founding'>>((db, arg) =>
  db
    .selectFrom('projects')
    .innerJoin('organisations', 'organisations.id', 'projects.org_id')
    .select('organisations.founding')
    .where('projects.id', '=', arg('projectId')),
)

// Projects

/** False when the organisation has a project of that slug. */
export async function insertProject(db: Db, row: Project): Promise<boolean> {
  const query = db
    .insertInto('projects')
    .values({ ...row, wedges: row.wedges && JSON.stringify(row.wedges) })
    .onConflict((conflict) => conflict.columns(['org_id', 'slug']).doNothing())
  return (await query.returning('id').execute()).length > 0
}

/** What is undefined stays as it is. */
export async function updateProject(
  db: Db,
  id: string,
  { name, tier, wedges }: { [Field in 'name' | 'tier' | 'wedges']?: Project[Field] | undefined },
): Promise<Project> {
  const query = db
    .updateTable('projects')
    .set({ id, name, tier, wedges: wedges && JSON.stringify(wedges) })
    .where('id', '=', id)
  return projectOf(await query.returningAll().executeTakeFirstOrThrow())
}

const projectById = prepared<{ id: string }, Projects>((db, arg) =>
  db.selectFrom('projects').selectAll().where('id', '=', arg('id')),
)

/** Newest first. */
export async function allProjects(db: Db, orgId: string): Promise<Project[]> {
  const query = db.selectFrom('projects').selectAll().where('org_id', '=', orgId).orderBy('id', 'desc')
  return (await query.execute()).map(projectOf)
}

/** Whoever calls this has checked that the id is in scope. */
export async function findProject(db: Db, id: string): Promise<Project | undefined> {
  const [row] = await projectById(db, { id })
  return row && projectOf(row)
}

export async function firstProject(db: Db, orgId: string): Promise<Project> {
  const query = db.selectFrom('projects').selectAll().where('org_id', '=', orgId)
  return projectOf(await query.orderBy('created_at').orderBy('id').limit(1).executeTakeFirstOrThrow())
}

export async function listProjects(db: Db, ids: readonly string[], { limit, cursor }: PageQuery): Promise<Project[]> {
  let query = db.selectFrom('projects').selectAll().where('id', 'in', ids)
  if (cursor) query = query.where('id', '<', cursor)
  const rows = await query
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return rows.map(projectOf)
}

export const projectsOfOrganisation = prepared<{ org_id: string }, Pick<Projects, 'id' | 'slug'>>((db, arg) =>
  db.selectFrom('projects').select(['id', 'slug']).where('org_id', '=', arg('org_id')).orderBy('id'),
)

function projectOf(row: Projects): Project {
  const wedges: string[] | null = row.wedges === null ? null : JSON.parse(row.wedges)
  return { ...row, wedges }
}

// Members

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
  return memberOf(await query.executeTakeFirst())
}

/** Whose email it is; an open invite makes it nobody's. */
export async function findMemberByEmail(db: Db, email: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('email', '=', email)
  return memberOf(await query.where('password', 'is not', null).executeTakeFirst())
}

/** Of one organisation to an email. */
export async function findOpenInvite(db: Db, orgId: string, email: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('org_id', '=', orgId).where('email', '=', email)
  return memberOf(await query.where('password', 'is', null).executeTakeFirst())
}

/** Held until the commit, so that nobody removes the member meanwhile; undefined when it is gone or its password another. */
export function holdMember(db: Db, member: Member): Promise<Member | undefined> {
  return replacePassword(db, member, member.password)
}

/** Undefined when the member is gone or its password another. */
export async function replacePassword(
  db: Db,
  { id, password }: Member,
  to: string | null,
): Promise<Member | undefined> {
  const query = db.updateTable('members').set({ password: to }).where('id', '=', id).where('password', '=', password)
  return memberOf(await query.returningAll().executeTakeFirst())
}

export async function findInvited(db: Db, inviteHash: string, now: string): Promise<Member | undefined> {
  const query = db.selectFrom('members').selectAll().where('invite_hash', '=', inviteHash)
  return memberOf(await query.where('password', 'is', null).where('invite_expires_at', '>', now).executeTakeFirst())
}

export async function listMembers(db: Db, orgId: string, { limit, cursor }: PageQuery): Promise<Member[]> {
  let query = db.selectFrom('members').selectAll().where('org_id', '=', orgId)
  if (cursor) query = query.where('id', '<', cursor)
  const rows = await query
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return rows.map((row) => ({ ...row, role: roleOf(row.role) }))
}

export async function updateMember(db: Db, id: string, change: Pick<Member, 'name' | 'role'>): Promise<void> {
  await db.updateTable('members').set(change).where('id', '=', id).execute()
}

/** Undefined when the earlier invite was accepted meanwhile: no invite may open an account that has a password. */
export async function replaceInvite(
  db: Db,
  id: string,
  invite: Pick<Member, 'role' | 'invite_hash' | 'invite_expires_at'>,
): Promise<Member | undefined> {
  const query = db.updateTable('members').set(invite).where('id', '=', id).where('password', 'is', null)
  return memberOf(await query.returningAll().executeTakeFirst())
}

/** Uses the invite up and sets the password; undefined when it was used or ran out meanwhile. */
export async function useInvite(
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
  return memberOf(await query.returningAll().executeTakeFirst())
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

function memberOf(row: Members | undefined): Member | undefined {
  return row && { ...row, role: roleOf(row.role) }
}

export function roleOf(text: string): Role {
  const role = ROLES.find((role) => role === text)
  if (!role) throw new Error(`the store has an unknown role '${text}'`)
  return role
}
