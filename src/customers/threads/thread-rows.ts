import { sql } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { MessageRow, ThreadRow } from '../../platform/store/tables.ts'

export const THREAD_STATUSES = ['open', 'closed'] as const

export async function findThread(db: Db, projectIds: readonly string[], id: string): Promise<ThreadRow | undefined> {
  const query = db.selectFrom('threads').selectAll().where('project_id', 'in', projectIds).where('id', '=', id)
  return query.executeTakeFirst()
}

/** Not limited to a scope: never pass an id that came from a caller. */
export const findThreadUnscoped = prepareQuery<{ id: string }, ThreadRow>((db, arg) =>
  db.selectFrom('threads').selectAll().where('id', '=', arg('id')),
)

export async function hasThreads(db: Db, channelId: string): Promise<boolean> {
  const query = db.selectFrom('threads').select('id').where('channel_id', '=', channelId).limit(1)
  return (await query.executeTakeFirst()) !== undefined
}

/** The threads of a client, newest first, one more than a page. */
export function listClientThreads(
  db: Db,
  { projectId, clientId }: { projectId: string; clientId: string },
  page: PageQuery,
): Promise<ThreadRow[]> {
  const ofClient = db.selectFrom('threads').selectAll().where('client_id', '=', clientId)
  return listNewestPage(ofClient, page, matchColumns({ project_id: projectId }))
}

export type NewThread = Pick<
  ThreadRow,
  | 'id'
  | 'project_id'
  | 'channel_id'
  | 'client_id'
  | 'subject'
  | 'conversation_key'
  | 'reply_token'
  | 'created_at'
  | 'updated_at'
>

/** Inserts nothing if the client has this conversation open on the channel: a unique index allows one. */
export const insertOpenThread = prepareQuery<NewThread>((db, arg) =>
  db
    .insertInto('threads')
    .values({
      id: arg('id'),
      project_id: arg('project_id'),
      channel_id: arg('channel_id'),
      client_id: arg('client_id'),
      subject: arg('subject'),
      status: 'open',
      message_count: 0,
      conversation_key: arg('conversation_key'),
      reply_token: arg('reply_token'),
      read_count: 0,
      client_read_count: 0,
      client_notified_count: 0,
      created_at: arg('created_at'),
      updated_at: arg('updated_at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

const MESSAGE_POSITION_COLUMNS = [
  'id',
  'project_id',
  'channel_id',
  'client_id',
  'status',
  'message_count',
  'held_by_kind',
] as const

/** A reserved position in a thread. `message_count` is the number of the message that comes there. */
export type MessagePosition = Pick<ThreadRow, (typeof MESSAGE_POSITION_COLUMNS)[number]>

/** The client's open conversation on a channel. */
export const findOpenThreadId = prepareQuery<
  { channel_id: string; client_id: string; conversation_key: string },
  { id: string }
>((db, arg) =>
  db
    .selectFrom('threads')
    .select('id')
    .where('channel_id', '=', arg('channel_id'))
    .where('client_id', '=', arg('client_id'))
    .where('conversation_key', '=', arg('conversation_key'))
    .where('status', '=', 'open'),
)

/** The client's thread with this reply token. A token that another client sends leads nowhere. */
export const findThreadByReplyToken = prepareQuery<
  { channel_id: string; client_id: string; reply_token: string },
  Pick<ThreadRow, 'id' | 'status'>
>((db, arg) =>
  db
    .selectFrom('threads')
    .select(['id', 'status'])
    .where('reply_token', '=', arg('reply_token'))
    .where('channel_id', '=', arg('channel_id'))
    .where('client_id', '=', arg('client_id')),
)

export type NamedMessage = Pick<ThreadRow, 'id' | 'status'> & Pick<MessageRow, 'is_unverified' | 'direction'>

/** The client's thread that has a message with this id of the provider, and whether that message is proved. */
export const findThreadByExternalId = prepareQuery<
  { channel_id: string; client_id: string; external_id: string },
  NamedMessage
>((db, arg) =>
  db
    .selectFrom('messages')
    .innerJoin('threads', 'threads.id', 'messages.thread_id')
    .select(['threads.id', 'threads.status', 'messages.is_unverified', 'messages.direction'])
    .where('messages.channel_id', '=', arg('channel_id'))
    .where('messages.external_id', '=', arg('external_id'))
    .where('threads.client_id', '=', arg('client_id')),
)

/** Reserves the next position in a thread, if it is open, and locks the thread until the commit. */
export const updateOpenThreadPosition = prepareQuery<{ id: string; now: string }, MessagePosition>((db, arg) =>
  db
    .updateTable('threads')
    .set((row) => ({ message_count: row('message_count', '+', 1), updated_at: arg('now') }))
    .where('id', '=', arg('id'))
    .where('status', '=', 'open')
    .returning(MESSAGE_POSITION_COLUMNS),
)

/** Reserves the next position in a thread, open or closed, and locks the thread until the commit. */
export const updateThreadPosition = prepareQuery<{ id: string; now: string }, MessagePosition>((db, arg) =>
  db
    .updateTable('threads')
    .set((row) => ({ message_count: row('message_count', '+', 1), updated_at: arg('now') }))
    .where('id', '=', arg('id'))
    .returning(MESSAGE_POSITION_COLUMNS),
)

export const insertMessage = prepareQuery<MessageRow>((db, arg) =>
  db
    .insertInto('messages')
    .values({
      id: arg('id'),
      n: arg('n'),
      project_id: arg('project_id'),
      thread_id: arg('thread_id'),
      channel_id: arg('channel_id'),
      direction: arg('direction'),
      from_handle: arg('from_handle'),
      from_name: arg('from_name'),
      body: arg('body'),
      subject: arg('subject'),
      task_id: arg('task_id'),
      external_id: arg('external_id'),
      recipients: arg('recipients'),
      author_kind: arg('author_kind'),
      author_id: arg('author_id'),
      address: arg('address'),
      delivery: arg('delivery'),
      delivery_error: arg('delivery_error'),
      is_automatic: arg('is_automatic'),
      verdict: arg('verdict'),
      is_unverified: arg('is_unverified'),
      sent_by: arg('sent_by'),
      is_waiting: arg('is_waiting'),
      created_at: arg('created_at'),
    })
    .$castTo<never>(),
)

/**
 * The newest messages of a thread, newest first, up to a number of messages and of bytes. A message is included while the
 * newer ones have fewer bytes than the limit, so the newest is always included.
 */
export const listNewestMessages = prepareQuery<{ thread_id: string; limit: number; bytes: number }, MessageRow>(
  (db, arg) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('messages')
          .selectAll()
          .select(sql<number>`sum(octet_length(body)) over (order by n desc) - octet_length(body)`.as('newer'))
          .where('thread_id', '=', arg('thread_id'))
          .orderBy('n', 'desc')
          .limit(arg('limit'))
          .as('newest'),
      )
      .selectAll()
      .where('newer', '<', arg('bytes'))
      .orderBy('n', 'desc'),
)

export const listMessagesSentByTask = prepareQuery<
  { thread_id: string; task_id: string },
  Pick<MessageRow, 'id' | 'body' | 'recipients' | 'delivery'>
>((db, arg) =>
  db
    .selectFrom('messages')
    .select(['id', 'body', 'recipients', 'delivery'])
    .where('thread_id', '=', arg('thread_id'))
    .where('task_id', '=', arg('task_id'))
    .where('direction', '=', 'outbound'),
)

/** The result of an earlier delivery of the same message. */
export const findInboundByExternalId = prepareQuery<
  { channel_id: string; external_id: string },
  { task_id: string | null; thread_id: string; client_id: string }
>((db, arg) =>
  db
    .selectFrom('messages')
    .innerJoin('threads', 'threads.id', 'messages.thread_id')
    .select(['messages.task_id', 'messages.thread_id', 'threads.client_id'])
    .where('messages.channel_id', '=', arg('channel_id'))
    .where('messages.external_id', '=', arg('external_id')),
)
