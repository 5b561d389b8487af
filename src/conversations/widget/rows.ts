import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { MessageRow, ThreadRow } from '../../platform/store/tables.ts'

export type VisitorThread = Pick<ThreadRow, 'id' | 'message_count' | 'client_read_count' | 'held_by_kind'>

/** The newest conversation of a visitor. It has the visitor's handle as its key, whatever else the client has. */
export const findVisitorThread = prepareQuery<
  { project_id: string; channel_id: string; handle: string },
  VisitorThread
>((db, arg) =>
  db
    .selectFrom('client_handles')
    .innerJoin('threads', 'threads.client_id', 'client_handles.client_id')
    .select(['threads.id', 'threads.message_count', 'threads.client_read_count', 'threads.held_by_kind'])
    .where('client_handles.project_id', '=', arg('project_id'))
    .where('client_handles.handle', '=', arg('handle'))
    .where('threads.channel_id', '=', arg('channel_id'))
    .where('threads.conversation_key', '=', arg('handle'))
    .orderBy('threads.id', 'desc')
    .limit(1),
)

export type VisitorMessage = Pick<MessageRow, 'id' | 'n' | 'direction' | 'body' | 'created_at'>

/** Without mails that a task sent: their recipient need not be the visitor. */
export const listMessagesForVisitor = prepareQuery<{ thread_id: string; after: number; limit: number }, VisitorMessage>(
  (db, arg) =>
    db
      .selectFrom('messages')
      .select(['id', 'n', 'direction', 'body', 'created_at'])
      .where('thread_id', '=', arg('thread_id'))
      .where('n', '>', arg('after'))
      .where('recipients', 'is', null)
      .orderBy('n')
      .limit(arg('limit')),
)
