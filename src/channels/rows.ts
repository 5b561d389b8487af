import type { PageQuery } from '../http/page.ts'
import { listNewestPage, mergeNewest } from '../store/newest-page.ts'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { ChannelRow } from '../store/tables.ts'

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
  return mergeNewest(projectIds, page, (projectId) =>
    listNewestPage(db.selectFrom('channels').selectAll().where('project_id', '=', projectId), page),
  )
}

/** False if the channel did not exist any more. */
export async function deleteChannel(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('channels').where('id', '=', id).returning('id').execute()).length > 0
}

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
