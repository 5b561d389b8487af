import type { Role } from '../ctx/scope.ts'
import type { PageQuery } from '../http/page.ts'
import { listNewestPage } from '../store/newest-page.ts'
import { prepareBatchedRead, prepareQuery } from '../store/prepared-query.ts'
import { cachedRead } from '../store/cached-read.ts'
import type { Db } from '../store/store.ts'
import type { KeyRow, MemberRow, ProjectRow, SessionRow } from '../store/tables.ts'
import { parseRole } from './member-rows.ts'

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
  const rows = await listNewestPage(db, query, page)
  return rows.map((row) => ({ ...row, role: parseRole(row.role) }))
}

/** False when the key does not exist any more. */
export async function deleteApiKey(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('keys').where('id', '=', id).returning('id').execute()).length > 0
}

/** The key with its project. Every request needs it, so it is cached until one of the tables changes. */
export const findApiKeyByHash = cachedRead(
  ['keys', 'projects'],
  prepareBatchedRead<
    { hash: string },
    Pick<KeyRow, 'id' | 'role' | 'project_id' | 'last_used_at'> &
      Pick<ProjectRow, 'org_id' | 'slug' | 'wedges' | 'tier'>
  >((db, arg) =>
    db
      .selectFrom('keys')
      .innerJoin('projects', 'projects.id', 'keys.project_id')
      .select(['keys.id', 'keys.role', 'keys.project_id', 'keys.last_used_at'])
      .select(['projects.org_id', 'projects.slug', 'projects.wedges', 'projects.tier'])
      .where('keys.hash', '=', arg('hash')),
  ),
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

// Failed sign-ins

/** Returns the new count. */
export async function incrementLoginFailures(db: Db, subject: string, windowStart: string): Promise<number> {
  const query = db
    .insertInto('login_failures')
    .values({ subject, window_start: windowStart, count: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['subject', 'window_start'])
        .doUpdateSet((eb) => ({ count: eb('login_failures.count', '+', 1) })),
    )
  return (await query.returning('count').executeTakeFirstOrThrow()).count
}

export async function countLoginFailures(db: Db, subject: string, windowStart: string): Promise<number> {
  const query = db.selectFrom('login_failures').select('count').where('subject', '=', subject)
  return (await query.where('window_start', '=', windowStart).executeTakeFirst())?.count ?? 0
}

/** The count of all windows since this one. */
export async function sumLoginFailures(db: Db, subject: string, since: string): Promise<number> {
  const query = db
    .selectFrom('login_failures')
    .select((row) => row.fn.sum<number | string>('count').as('sum'))
    .where('subject', '=', subject)
    .where('window_start', '>=', since)
  return Number((await query.executeTakeFirst())?.sum ?? 0)
}

export async function decrementLoginFailures(db: Db, subject: string, windowStart: string): Promise<void> {
  const query = db.updateTable('login_failures').set((eb) => ({ count: eb('count', '-', 1) }))
  await query.where('subject', '=', subject).where('window_start', '=', windowStart).execute()
}

export async function deleteLoginFailures(db: Db, subject: string): Promise<void> {
  await db.deleteFrom('login_failures').where('subject', '=', subject).execute()
}

export async function deleteLoginFailuresBefore(db: Db, windowStart: string): Promise<void> {
  await db.deleteFrom('login_failures').where('window_start', '<', windowStart).execute()
}
