import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { MessageRow, NoticeOptOutRow, NoticeTokenRow, ThreadRow } from '../../platform/store/tables.ts'

export type UnnotifiedThread = Pick<
  ThreadRow,
  | 'id'
  | 'project_id'
  | 'channel_id'
  | 'client_id'
  | 'reply_token'
  | 'message_count'
  | 'client_read_count'
  | 'client_notified_count'
>

/** The projects with threads for whose newest messages it is not decided yet whether the client gets a mail. */
export const listProjectsToNotify = prepareQuery<{ quiet_since: string }, Pick<ThreadRow, 'project_id'>>((db, arg) =>
  db
    .selectFrom('brands')
    .select('project_id')
    .where('notify_since', 'is not', null)
    .where('mail_connection_id', 'is not', null)
    .where((brand) =>
      brand.exists(
        brand
          .selectFrom('threads')
          .select('threads.id')
          .whereRef('threads.project_id', '=', 'brands.project_id')
          .whereRef('threads.client_notified_count', '<', 'threads.message_count')
          .where('threads.updated_at', '<=', arg('quiet_since')),
      ),
    ),
)

/** Such threads of one project, oldest first. */
export const listUnnotifiedThreads = prepareQuery<
  { project_id: string; quiet_since: string; limit: number },
  UnnotifiedThread
>((db, arg) =>
  db
    .selectFrom('threads')
    .select([
      'id',
      'project_id',
      'channel_id',
      'client_id',
      'reply_token',
      'message_count',
      'client_read_count',
      'client_notified_count',
    ])
    .where('project_id', '=', arg('project_id'))
    .whereRef('client_notified_count', '<', 'message_count')
    .where('updated_at', '<=', arg('quiet_since'))
    .orderBy('updated_at')
    .limit(arg('limit')),
)

/**
 * 1 if a task asks a question with this message, or for an approval, and waits for the client's decision. The message is
 * stored right after its approval, so later messages of the task belong to later requests.
 */
const openQuestionFlag = sql<number>`case when (select status from approvals where approvals.task_id = messages.task_id
  and approvals.client_id is not null and approvals.created_at <= messages.created_at
  order by approvals.created_at desc, approvals.id desc limit 1) = 'pending' then 1 else 0 end`

/**
 * The newest message after a message number that the client can only read in the portal or in the widget: it is no mail
 * of a task, and the channel has not delivered it. An open question comes before newer messages, because the task waits
 * for its answer. With `is_shown_only` the channel sends nothing.
 */
export const findUnreadMessage = prepareQuery<
  { thread_id: string; after: number; to: number; since: string; is_shown_only: number },
  Pick<MessageRow, 'body'> & { is_question: number }
>((db, arg) =>
  db
    .selectFrom('messages')
    .select(['body', openQuestionFlag.as('is_question')])
    .where('thread_id', '=', arg('thread_id'))
    .where('n', '>', arg('after'))
    .where('n', '<=', arg('to'))
    .where('direction', '=', 'outbound')
    .where('recipients', 'is', null)
    .where((row) =>
      row.or([
        row('delivery', 'is', null),
        sql<boolean>`${arg('is_shown_only')} = 1`,
        // The client has written in the portal only, so the answer was shown there.
        sql<boolean>`not exists (select 1 from messages as written where written.thread_id = messages.thread_id
          and written.direction = 'inbound' and written.address is not null)`,
      ]),
    )
    .where('created_at', '>=', arg('since'))
    .orderBy('is_question', 'desc')
    .orderBy('n', 'desc')
    .limit(1),
)

/** False if another replica has decided about these messages. */
export async function updateThreadNotified(
  db: Db,
  { id, client_notified_count }: Pick<UnnotifiedThread, 'id' | 'client_notified_count'>,
  notified: number,
): Promise<boolean> {
  const query = db.updateTable('threads').set({ client_notified_count: notified }).where('id', '=', id)
  return (await query.where('client_notified_count', '=', client_notified_count).returning('id').execute()).length > 0
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
