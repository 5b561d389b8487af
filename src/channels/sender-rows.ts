import { prepareQuery } from '../store/prepared-query.ts'
import type { MessageRow } from '../store/tables.ts'

/** A row if a person has answered this client, or approved an answer to them. */
export const findTeamContact = prepareQuery<{ client_id: string }, { id: string }>((db, arg) =>
  db
    .selectFrom('messages')
    .innerJoin('threads', 'threads.id', 'messages.thread_id')
    .select('messages.id')
    .where('threads.client_id', '=', arg('client_id'))
    .where('messages.author_id', 'is not', null)
    .unionAll(
      db
        .selectFrom('approvals')
        .innerJoin('tasks', 'tasks.id', 'approvals.task_id')
        .select('approvals.id')
        .where('tasks.client_id', '=', arg('client_id'))
        .where('approvals.status', '=', 'approved')
        .where('approvals.decided_by_kind', 'in', ['member', 'key']),
    )
    .limit(1),
)

const WAITING_COLUMNS = ['id', 'from_handle', 'from_name', 'body', 'subject', 'is_unverified', 'created_at'] as const

export type WaitingMessage = Pick<MessageRow, (typeof WAITING_COLUMNS)[number]>

/** The messages of a client that have started no task, newest first. */
export const listWaitingMessages = prepareQuery<{ thread_id: string; since: string; limit: number }, WaitingMessage>(
  (db, arg) =>
    db
      .selectFrom('messages')
      .select(WAITING_COLUMNS)
      .where('thread_id', '=', arg('thread_id'))
      .where('direction', '=', 'inbound')
      .where('is_automatic', '=', 0)
      .where('task_id', 'is', null)
      .where('created_at', '>=', arg('since'))
      .orderBy('n', 'desc')
      .limit(arg('limit')),
)

export const updateMessageTask = prepareQuery<{ id: string; task_id: string }>((db, arg) =>
  db
    .updateTable('messages')
    .set({ task_id: arg('task_id') })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)
