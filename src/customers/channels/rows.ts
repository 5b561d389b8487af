import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestOfProjects } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'

export async function insertChannel(db: Db, channel: ChannelRow): Promise<void> {
  await db.insertInto('channels').values(channel).execute()
}

export async function findChannel(db: Db, projectIds: readonly string[], id: string): Promise<ChannelRow | undefined> {
  const [channel] = await channelById(db, { id })
  return channel && projectIds.includes(channel.project_id) ? channel : undefined
}

const channelById = prepareQuery<{ id: string }, ChannelRow>((db, arg) =>
  db.selectFrom('channels').selectAll().where('id', '=', arg('id')),
)

export function listChannels(db: Db, projectIds: readonly string[], page: PageQuery): Promise<ChannelRow[]> {
  const channels = db.selectFrom('channels').selectAll()
  return listNewestOfProjects({
    projectIds,
    page,
    rows: { query: channels },
    searchIn: (projectId) => ({ query: channels.where('project_id', '=', projectId) }),
  })
}

/** The channels whose secret has one of these vault keys. */
export async function listChannelsOfKeys(
  db: Db,
  projectIds: readonly string[],
  keys: readonly string[],
): Promise<Pick<ChannelRow, 'id' | 'project_id' | 'address'>[]> {
  if (keys.length === 0) return []
  return db
    .selectFrom('channels')
    .select(['id', 'project_id', 'address'])
    .where('project_id', 'in', projectIds)
    .where('id', 'in', keys)
    .orderBy('address')
    .execute()
}

export type ChannelChanges = Partial<Omit<ChannelRow, 'id' | 'project_id' | 'created_at'>>

/** Undefined if the channel does not exist any more. */
export async function updateChannel(db: Db, id: string, changes: ChannelChanges): Promise<ChannelRow | undefined> {
  return db.updateTable('channels').set(changes).where('id', '=', id).returningAll().executeTakeFirst()
}

/** Not limited to a scope: never show what it returns to a caller without a signature. */
export async function findChannelUnscoped(db: Db, id: string): Promise<ChannelRow | undefined> {
  return (await channelById(db, { id }))[0]
}

/** Notes why a message could not be received, at most once in a while: a caller without a signature must not cause many writes. */
export async function updateChannelError(
  db: Db,
  failure: { id: string; error: string; now: string; unlessSince: string },
): Promise<void> {
  await db
    .updateTable('channels')
    .set({ last_error: failure.error, last_error_at: failure.now })
    .where('id', '=', failure.id)
    .where((row) => row.or([row('last_error_at', 'is', null), row('last_error_at', '<', failure.unlessSince)]))
    .execute()
}

/** False if the channel did not exist any more. */
export async function deleteChannel(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('channels').where('id', '=', id).returning('id').execute()).length > 0
}

/** Like `lockChannel`, for a message that is received: it also notes the time and that the channel works. */
export async function lockReceivingChannel(db: Db, id: string, now: string): Promise<boolean> {
  return (await touchReceivingChannel(db, { id, now })).length > 0
}

const touchReceivingChannel = prepareQuery<{ id: string; now: string }, { id: string }>((db, arg) =>
  db
    .updateTable('channels')
    .set({ last_received_at: arg('now'), last_error: null, last_error_at: null })
    .where('id', '=', arg('id'))
    .returning('id'),
)

/**
 * Locks the channel until the commit, so that one transaction at a time opens a thread or detects a repeated delivery.
 * False if the channel does not exist any more.
 */
export async function lockChannel(db: Db, id: string): Promise<boolean> {
  return (await touchChannel(db, { id })).length > 0
}

const touchChannel = prepareQuery<{ id: string }, { id: string }>((db, arg) =>
  db
    .updateTable('channels')
    .set((row) => ({ address: row.ref('address') }))
    .where('id', '=', arg('id'))
    .returning('id'),
)
