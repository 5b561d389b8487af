import type { Role } from '../ctx/scope.ts'
import type { PageQuery } from '../http/page.ts'
import { newestPage } from '../store/newest-page.ts'
import { glance, prepared } from '../store/prepared.ts'
import { remembered } from '../store/remembered.ts'
import type { Db } from '../store/store.ts'
import type { Keys, Members, Projects, Sessions } from '../store/tables.ts'
import { roleOf } from './stored-role.ts'

export type Key = Omit<Keys, 'role'> & { role: Role }

// Keys

/** False when the store has that key already. */
export async function insertKey(db: Db, row: Key): Promise<boolean> {
  const query = db
    .insertInto('keys')
    .values(row)
    .onConflict((conflict) => conflict.column('hash').doNothing())
  return (await query.returning('id').execute()).length > 0
}

export async function findKey(db: Db, projectIds: readonly string[], id: string): Promise<Key | undefined> {
  const query = db.selectFrom('keys').selectAll().where('project_id', 'in', projectIds).where('id', '=', id)
  const row = await query.executeTakeFirst()
  return row && { ...row, role: roleOf(row.role) }
}

export async function listKeys(db: Db, projectIds: readonly string[], page: PageQuery): Promise<Key[]> {
  const query = db.selectFrom('keys').selectAll().where('project_id', 'in', projectIds)
  const rows = await newestPage(query, page)
  return rows.map((row) => ({ ...row, role: roleOf(row.role) }))
}

/** False when it is gone already. */
export async function deleteKey(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('keys').where('id', '=', id).returning('id').execute()).length > 0
}

/** With its project. Every request asks for it, so it is kept where a revocation is seen at once. */
export const keyByHash = remembered(
  ['keys', 'projects'],
  glance<
    { hash: string },
    Pick<Keys, 'id' | 'role' | 'project_id' | 'last_used_at'> & Pick<Projects, 'org_id' | 'slug' | 'wedges' | 'tier'>
  >((db, arg) =>
    db
      .selectFrom('keys')
      .innerJoin('projects', 'projects.id', 'keys.project_id')
      .select(['keys.id', 'keys.role', 'keys.project_id', 'keys.last_used_at'])
      .select(['projects.org_id', 'projects.slug', 'projects.wedges', 'projects.tier'])
      .where('keys.hash', '=', arg('hash')),
  ),
)

export async function setKeyUsed(db: Db, id: string, now: string, unlessSince: string): Promise<void> {
  const query = db.updateTable('keys').set({ last_used_at: now }).where('id', '=', id)
  await query.where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', unlessSince)])).execute()
}

// Sessions

export async function insertSession(db: Db, row: Sessions): Promise<void> {
  await db.insertInto('sessions').values(row).execute()
}

export const memberBySession = prepared<
  { hash: string; now: string },
  Pick<Members, 'id' | 'role' | 'org_id'> & Pick<Sessions, 'expires_at'>
>((db, arg) =>
  db
    .selectFrom('sessions')
    .innerJoin('members', 'members.id', 'sessions.member_id')
    .select(['members.id', 'members.role', 'members.org_id', 'sessions.expires_at'])
    .where('sessions.hash', '=', arg('hash'))
    .where('sessions.expires_at', '>', arg('now')),
)

export async function extendSession(db: Db, hash: string, expiresAt: string): Promise<void> {
  const query = db.updateTable('sessions').set({ expires_at: expiresAt }).where('hash', '=', hash)
  await query.where('expires_at', '<', expiresAt).execute()
}

export async function deleteSession(db: Db, hash: string): Promise<boolean> {
  return (await db.deleteFrom('sessions').where('hash', '=', hash).returning('hash').execute()).length > 0
}

/** All but one of a member; answers their hashes. */
export async function deleteOtherSessions(db: Db, memberId: string, kept: string): Promise<string[]> {
  const query = db.deleteFrom('sessions').where('member_id', '=', memberId).where('hash', '!=', kept)
  return (await query.returning('hash').execute()).map(({ hash }) => hash)
}

export async function deleteSessionsBefore(db: Db, now: string): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<=', now).execute()
}

// Failed sign-ins

/** How many they are now. */
export async function countFailure(db: Db, subject: string, windowStart: string): Promise<number> {
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

export async function failuresOf(db: Db, subject: string, windowStart: string): Promise<number> {
  const query = db.selectFrom('login_failures').select('count').where('subject', '=', subject)
  return (await query.where('window_start', '=', windowStart).executeTakeFirst())?.count ?? 0
}

export async function uncountFailure(db: Db, subject: string, windowStart: string): Promise<void> {
  const query = db.updateTable('login_failures').set((eb) => ({ count: eb('count', '-', 1) }))
  await query.where('subject', '=', subject).where('window_start', '=', windowStart).execute()
}

export async function forgetFailures(db: Db, subject: string): Promise<void> {
  await db.deleteFrom('login_failures').where('subject', '=', subject).execute()
}

export async function deleteFailuresBefore(db: Db, windowStart: string): Promise<void> {
  await db.deleteFrom('login_failures').where('window_start', '<', windowStart).execute()
}
