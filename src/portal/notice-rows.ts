import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { MessageRow, NoticeOptOutRow, NoticeTokenRow, ThreadRow } from '../store/tables.ts'

export type UntoldThread = Pick<
  ThreadRow,
  'id' | 'project_id' | 'client_id' | 'message_count' | 'client_read_count' | 'client_told_count'
>

/** Threads with messages for which nobody has decided yet whether the client gets a mail, oldest first. */
export const listUntoldThreads = prepareQuery<{ quiet_since: string; limit: number }, UntoldThread>((db, arg) =>
  db
    .selectFrom('threads')
    .innerJoin('brands', 'brands.project_id', 'threads.project_id')
    .select([
      'threads.id',
      'threads.project_id',
      'threads.client_id',
      'threads.message_count',
      'threads.client_read_count',
      'threads.client_told_count',
    ])
    .where('brands.notify_since', 'is not', null)
    .where('brands.mail_connection_id', 'is not', null)
    .whereRef('threads.client_told_count', '<', 'threads.message_count')
    .where('threads.updated_at', '<=', arg('quiet_since'))
    .orderBy('threads.updated_at')
    .limit(arg('limit')),
)

/**
 * The newest answer after a message number that the client can only read in the portal: it was not delivered by the
 * channel, and it is no mail of a task.
 */
export const findUnreadAnswer = prepareQuery<
  { thread_id: string; after: number; to: number; since: string },
  Pick<MessageRow, 'body'>
>((db, arg) =>
  db
    .selectFrom('messages')
    .select('body')
    .where('thread_id', '=', arg('thread_id'))
    .where('n', '>', arg('after'))
    .where('n', '<=', arg('to'))
    .where('direction', '=', 'outbound')
    .where('recipients', 'is', null)
    .where('delivery', 'is', null)
    .where('created_at', '>=', arg('since'))
    .orderBy('n', 'desc')
    .limit(1),
)

/** False if another replica has decided about these messages. */
export async function updateThreadTold(
  db: Db,
  { id, client_told_count }: Pick<UntoldThread, 'id' | 'client_told_count'>,
  told: number,
): Promise<boolean> {
  const query = db.updateTable('threads').set({ client_told_count: told }).where('id', '=', id)
  return (await query.where('client_told_count', '=', client_told_count).returning('id').execute()).length > 0
}

/** Marks the thread as read up to its newest message. False if it was already. */
export async function updateThreadReadByClient(db: Db, id: string): Promise<boolean> {
  const query = db
    .updateTable('threads')
    .set((row) => ({ client_read_count: row.ref('message_count') }))
    .where('id', '=', id)
    .whereRef('client_read_count', '<', 'message_count')
  return (await query.returning('id').execute()).length > 0
}

export async function insertNoticeToken(db: Db, token: NoticeTokenRow): Promise<void> {
  await db.insertInto('notice_tokens').values(token).execute()
}

export const findNoticeToken = prepareQuery<{ hash: string }, NoticeTokenRow>((db, arg) =>
  db.selectFrom('notice_tokens').selectAll().where('hash', '=', arg('hash')),
)

export async function deleteNoticeTokensBefore(db: Db, before: string): Promise<void> {
  await db.deleteFrom('notice_tokens').where('created_at', '<', before).execute()
}

export const findNoticeOptOut = prepareQuery<{ client_id: string }, NoticeOptOutRow>((db, arg) =>
  db.selectFrom('notice_opt_outs').selectAll().where('client_id', '=', arg('client_id')),
)

/** False if the client had opted out before. */
export async function insertNoticeOptOut(db: Db, row: NoticeOptOutRow): Promise<boolean> {
  const query = db.insertInto('notice_opt_outs').values(row)
  return (
    (
      await query
        .onConflict((conflict) => conflict.doNothing())
        .returning('client_id')
        .execute()
    ).length > 0
  )
}

export async function deleteNoticeOptOut(db: Db, clientId: string): Promise<boolean> {
  const query = db.deleteFrom('notice_opt_outs').where('client_id', '=', clientId)
  return (await query.returning('client_id').execute()).length > 0
}
