import type { PageQuery } from '../http/page.ts'
import { newestPage } from '../store/newest-page.ts'
import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { Channels } from '../store/tables.ts'

export async function insertChannel(db: Db, channel: Channels): Promise<void> {
  await db.insertInto('channels').values(channel).execute()
}

export async function findChannel(db: Db, projectIds: readonly string[], id: string): Promise<Channels | undefined> {
  const [channel] = await channelById(db, { id })
  return channel && projectIds.includes(channel.project_id) ? channel : undefined
}

const channelById = prepared<{ id: string }, Channels>((db, arg) =>
  db.selectFrom('channels').selectAll().where('id', '=', arg('id')),
)

export function listChannels(db: Db, projectIds: readonly string[], page: PageQuery): Promise<Channels[]> {
  const query = db.selectFrom('channels').selectAll().where('project_id', 'in', projectIds)
  return newestPage(query, page)
}

/** False when it is gone already. */
export async function deleteChannel(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('channels').where('id', '=', id).returning('id').execute()).length > 0
}

/**
 * Held until the commit: threads are opened and deliveries are told apart by one transaction at a time. False when the
 * channel is gone.
 */
export async function lockChannel(db: Db, id: string): Promise<boolean> {
  return (await touchChannel(db, { id })).length > 0
}

const touchChannel = prepared<{ id: string }, { id: string }>((db, arg) =>
  db
    .updateTable('channels')
    .set((row) => ({ address: row.ref('address') }))
    .where('id', '=', arg('id'))
    .returning('id'),
)
