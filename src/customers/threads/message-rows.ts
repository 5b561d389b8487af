import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { MessageRow, ThreadRow } from '../../platform/store/tables.ts'

/** Not limited to a scope: never pass an id that came from a caller. */
export const findMessage = prepareQuery<{ id: string }, MessageRow>((db, arg) =>
  db.selectFrom('messages').selectAll().where('id', '=', arg('id')),
)

/** The newest message of the client; one that can be answered through the channel before all others. */
export const findMessageToAnswer = prepareQuery<{ thread_id: string }, MessageRow>((db, arg) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('thread_id', '=', arg('thread_id'))
    .where('direction', '=', 'inbound')
    .where('is_automatic', '=', 0)
    .orderBy(sql`case when address is null then 1 else 0 end`)
    .orderBy('n', 'desc')
    .limit(1),
)

/** The provider's ids of the newest messages of a thread, newest first. */
export const listExternalIds = prepareQuery<{ thread_id: string }, Pick<MessageRow, 'external_id'>>((db, arg) =>
  db
    .selectFrom('messages')
    .select('external_id')
    .where('thread_id', '=', arg('thread_id'))
    .where('external_id', 'is not', null)
    .orderBy('n', 'desc')
    .limit(100),
)

/** Notes how a message left the service. No row if there is no such message. An id that another message has is left out. */
export const updateMessageDelivery = prepareQuery<
  {
    id: string
    delivery: NonNullable<MessageRow['delivery']>
    delivery_error: string | null
    external_id: string | null
  },
  Pick<MessageRow, 'thread_id' | 'n' | 'task_id' | 'author_id'>
>((db, arg) =>
  db
    .updateTable('messages')
    .set({
      delivery: arg('delivery'),
      delivery_error: arg('delivery_error'),
      external_id: sql<
        string | null
      >`coalesce(external_id, (select cast(${arg('external_id')} as text) where not exists (
        select 1 from messages as other where other.channel_id = messages.channel_id
        and other.external_id = ${arg('external_id')})))`,
    })
    .where('id', '=', arg('id'))
    .returning(['thread_id', 'n', 'task_id', 'author_id']),
)

export const findMessageThread = prepareQuery<{ id: string }, Pick<ThreadRow, 'id' | 'project_id' | 'status'>>(
  (db, arg) =>
    db
      .selectFrom('messages')
      .innerJoin('threads', 'threads.id', 'messages.thread_id')
      .select(['threads.id', 'threads.project_id', 'threads.status'])
      .where('messages.id', '=', arg('id')),
)

/** An answer that left through a channel, by the provider's id. */
export const findSentMessage = prepareQuery<
  { channel_id: string; external_id: string },
  Pick<MessageRow, 'id' | 'thread_id' | 'delivery'>
>((db, arg) =>
  db
    .selectFrom('messages')
    .select(['id', 'thread_id', 'delivery'])
    .where('channel_id', '=', arg('channel_id'))
    .where('external_id', '=', arg('external_id'))
    .where('direction', '=', 'outbound'),
)
