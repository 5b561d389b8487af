import type { Role } from '../../platform/ctx/scope.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { KeyRow, MemberRow, ProjectRow, SessionRow } from '../../platform/store/tables.ts'
import { parseRole } from '../organisations/member-rows.ts'

export type ApiKey = Omit<KeyRow, 'role'> & { role: Role }

// API keys

/** False when a key with this hash exists. */
export async function insertApiKey(db: Db, row: ApiKey): Promise<boolean> {
  const query = db
    .insertInto('keys')
    .values(row)
    .onConflict((conflict) => conflict.column('hash').doNothing())
  return (await query.returning('id').execute()).length > 0
}

export async function findApiKey(db: Db, projectIds: readonly string[], id: string): Promise<ApiKey | undefined> {
  const query = db.selectFrom('keys').selectAll().where('project_id', 'in', projectIds).where('id', '=', id)
  const row = await query.executeTakeFirst()
  return row && { ...row, role: parseRole(row.role) }
}

export async function listApiKeys(db: Db, projectIds: readonly string[], page: PageQuery): Promise<ApiKey[]> {
  const query = db.selectFrom('keys').selectAll().where('project_id', 'in', projectIds)
  const rows = await listNewestPage(query, page)
  return rows.map((row) => ({ ...row, role: parseRole(row.role) }))
}

/** False when the key does not exist any more. */
export async function deleteApiKey(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('keys').where('id', '=', id).returning('id').execute()).length > 0
}

/** The key with its project. */
export const findApiKeyByHash = prepareQuery<
  { hash: string },
  Pick<KeyRow, 'id' | 'role' | 'project_id' | 'last_used_at'> & Pick<ProjectRow, 'org_id' | 'slug' | 'wedges' | 'tier'>
>((db, arg) =>
  db
    .selectFrom('keys')
    .innerJoin('projects', 'projects.id', 'keys.project_id')
    .select(['keys.id', 'keys.role', 'keys.project_id', 'keys.last_used_at'])
    .select(['projects.org_id', 'projects.slug', 'projects.wedges', 'projects.tier'])
    .where('keys.hash', '=', arg('hash')),
)

export async function updateApiKeyLastUsed(db: Db, id: string, now: string, unlessSince: string): Promise<void> {
  const query = db.updateTable('keys').set({ last_used_at: now }).where('id', '=', id)
  await query.where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', unlessSince)])).execute()
}

// Sessions

export async function insertSession(db: Db, row: SessionRow): Promise<void> {
  await db.insertInto('sessions').values(row).execute()
}

export const findMemberBySession = prepareQuery<
  { hash: string; now: string },
  Pick<MemberRow, 'id' | 'role' | 'org_id'> & Pick<SessionRow, 'expires_at'>
>((db, arg) =>
  db
    .selectFrom('sessions')
    .innerJoin('members', 'members.id', 'sessions.member_id')
    .select(['members.id', 'members.role', 'members.org_id', 'sessions.expires_at'])
    .where('sessions.hash', '=', arg('hash'))
    .where('sessions.expires_at', '>', arg('now')),
)

export async function updateSessionExpiry(db: Db, hash: string, expiresAt: string): Promise<void> {
  const query = db.updateTable('sessions').set({ expires_at: expiresAt }).where('hash', '=', hash)
  await query.where('expires_at', '<', expiresAt).execute()
}

export async function deleteSession(db: Db, hash: string): Promise<boolean> {
  return (await db.deleteFrom('sessions').where('hash', '=', hash).returning('hash').execute()).length > 0
}

/** Deletes all sessions of a member except one, and returns their hashes. */
export async function deleteOtherSessions(db: Db, memberId: string, kept: string): Promise<string[]> {
  const query = db.deleteFrom('sessions').where('member_id', '=', memberId).where('hash', '!=', kept)
  return (await query.returning('hash').execute()).map(({ hash }) => hash)
}

export async function deleteExpiredSessions(db: Db, now: string): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<=', now).execute()
}
