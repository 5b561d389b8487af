import { type SqlBool, sql } from 'kysely'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
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

/** The messages of a client that have started no task, oldest first. */
export const listWaitingMessages = prepareQuery<{ thread_id: string; limit: number }, WaitingMessage>((db, arg) =>
  waitingMessages(db, arg('thread_id')).select(WAITING_COLUMNS).orderBy('n').limit(arg('limit')),
)

/**
 * The messages that wait for a person. One that came before the mark of the thread was dismissed, or before a person answered,
 * does not wait any more. The reply of a task answers only what came before the last message that it is for.
 */
export const waitingMessages = (db: Db, threadId: string) =>
  db
    .selectFrom('messages')
    .where('thread_id', '=', threadId)
    .where('direction', '=', 'inbound')
    .where('is_automatic', '=', 0)
    .where('task_id', 'is', null)
    .where('created_at', '>=', (row) =>
      row.selectFrom('threads').select('unanswered_at').where('threads.id', '=', threadId).$castTo<string>(),
    )
    .where('n', '>', (row) =>
      row
        .selectFrom('messages as answers')
        .select((answer) => answer.fn.coalesce(answer.fn.max('answers.n'), answer.lit(0)).as('n'))
        .where('answers.thread_id', '=', threadId)
        .where('answers.author_id', 'is not', null)
        .where(isDelivered),
    )
    .where('n', '>', (row) =>
      row
        .selectFrom('messages as asked')
        .innerJoin('messages as answers', 'answers.task_id', 'asked.task_id')
        .select((answer) => answer.fn.coalesce(answer.fn.max('asked.n'), answer.lit(0)).as('n'))
        .where('asked.thread_id', '=', threadId)
        .where('asked.direction', '=', 'inbound')
        .where('answers.thread_id', '=', threadId)
        .where('answers.direction', '=', 'outbound')
        .where('answers.is_automatic', '=', 0)
        .where(isDelivered),
    )

const isDelivered = sql<SqlBool>`(answers.delivery is null or answers.delivery = 'sent')`

export const updateMessageTask = prepareQuery<{ id: string; task_id: string }>((db, arg) =>
  db
    .updateTable('messages')
    .set({ task_id: arg('task_id') })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)
