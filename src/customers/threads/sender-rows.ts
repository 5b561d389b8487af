import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { MessageRow } from '../../platform/store/tables.ts'

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

/** The messages that wait for a person, oldest first. */
export const listWaitingMessages = prepareQuery<{ thread_id: string; limit: number }, WaitingMessage>((db, arg) =>
  waitingMessages(db, arg('thread_id')).select(WAITING_COLUMNS).orderBy('n').limit(arg('limit')),
)

export const waitingMessages = (db: Db, threadId: string) =>
  db.selectFrom('messages').where('thread_id', '=', threadId).where('is_waiting', '=', 1)

/** The message is one of the task, and does not wait any more. */
export const updateMessageTask = prepareQuery<{ id: string; task_id: string }>((db, arg) =>
  db
    .updateTable('messages')
    .set({ task_id: arg('task_id'), is_waiting: 0 })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

/** A person has answered or dismissed the messages of a thread up to this position. */
export const updateMessagesHandled = prepareQuery<{ thread_id: string; n: number }>((db, arg) =>
  db
    .updateTable('messages')
    .set({ is_waiting: 0 })
    .where('thread_id', '=', arg('thread_id'))
    .where('is_waiting', '=', 1)
    .where('n', '<=', arg('n'))
    .$castTo<never>(),
)

/** The task was cancelled before its run, so its messages wait for a person. */
export const updateMessagesOfTaskWaiting = prepareQuery<{ thread_id: string; task_id: string }>((db, arg) =>
  db
    .updateTable('messages')
    .set({ task_id: null, is_waiting: 1 })
    .where('thread_id', '=', arg('thread_id'))
    .where('task_id', '=', arg('task_id'))
    .where('direction', '=', 'inbound')
    .$castTo<never>(),
)
