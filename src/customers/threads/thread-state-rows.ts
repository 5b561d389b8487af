import { isPostgres } from '../../platform/store/dialect.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ThreadRow } from '../../platform/store/tables.ts'
import { waitingMessages } from './sender-rows.ts'

/** Marks a thread as unanswered. The first reason stays until the client gets an answer or a person dismisses the mark. */
export const updateThreadUnanswered = prepareQuery<
  { id: string; at: string; reason: string; task_id: string | null },
  Pick<ThreadRow, 'project_id' | 'status'>
>((db, arg) =>
  db
    .updateTable('threads')
    .set({ unanswered_at: arg('at'), unanswered_reason: arg('reason'), unanswered_task_id: arg('task_id') })
    .where('id', '=', arg('id'))
    .where('unanswered_at', 'is', null)
    .returning(['project_id', 'status']),
)

/**
 * Marks a thread as unanswered because a message waits for a person. An earlier reason is replaced, because a person starts
 * the message by this one; the time stays.
 */
export const updateThreadWaiting = prepareQuery<{ id: string; at: string; reason: string }>((db, arg) =>
  db
    .updateTable('threads')
    .set((row) => ({
      unanswered_at: row.fn.coalesce('unanswered_at', row.val(arg('at'))),
      unanswered_reason: arg('reason'),
      unanswered_task_id: null,
    }))
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

/** The position of the newest message of the client that belongs to a task. */
const lastMessageOfTask = (db: Db, threadId: string, taskId: string) =>
  db
    .selectFrom('messages as asked')
    .select((row) => row.fn.max('asked.n').as('n'))
    .where('asked.thread_id', '=', threadId)
    .where('asked.task_id', '=', taskId)
    .where('asked.direction', '=', 'inbound')

/**
 * Marks a thread as unanswered because its task ended without an answer. A closed thread stays as it is, and so does one in
 * which a person has answered the messages of the task.
 */
export const updateThreadUnansweredByTask = prepareQuery<
  { id: string; at: string; reason: string; task_id: string },
  Pick<ThreadRow, 'project_id' | 'status'>
>((db, arg) =>
  db
    .updateTable('threads')
    .set({ unanswered_at: arg('at'), unanswered_reason: arg('reason'), unanswered_task_id: arg('task_id') })
    .where('id', '=', arg('id'))
    .where('status', '=', 'open')
    .where('unanswered_at', 'is', null)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('messages')
            .select('messages.id')
            .where('messages.thread_id', '=', arg('id'))
            .where('messages.author_id', 'is not', null)
            .where((message) =>
              message.or([message('messages.delivery', 'is', null), message('messages.delivery', '<>', 'failed')]),
            )
            .where('messages.n', '>', lastMessageOfTask(db, arg('id'), arg('task_id'))),
        ),
      ),
    )
    .returning(['project_id', 'status']),
)

/** The team has read the messages of a task, because one of its members has decided about the answer. */
export const updateThreadReadByTask = prepareQuery<{ id: string; task_id: string }>((db, arg) =>
  db
    .updateTable('threads')
    .set({ read_count: lastMessageOfTask(db, arg('id'), arg('task_id')).$castTo<number>() })
    .where('id', '=', arg('id'))
    .where('read_count', '<', lastMessageOfTask(db, arg('id'), arg('task_id')))
    .$castTo<never>(),
)

/** Locks the threads of these tasks until the commit. Call it after the tasks are locked. */
export async function lockThreadsOfTasks(db: Db, taskIds: readonly string[]): Promise<void> {
  if (!isPostgres(db) || taskIds.length === 0) return
  const ids = db.selectFrom('tasks').select('thread_id').where('id', 'in', taskIds)
  await db.selectFrom('threads').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate().execute()
}

/**
 * Removes the mark, because the client got an answer. It stays while other messages wait for a person, because no run will
 * answer them. Call it after the thread is locked, so that a message that is being received counts.
 */
export const updateThreadAnswered = prepareQuery<{ id: string }>((db, arg) =>
  clearUnanswered(db, arg('id'))
    .where((row) => row.not(row.exists(waitingMessages(db, arg('id')).select('messages.id'))))
    .$castTo<never>(),
)

/** Removes the mark, because a person dismissed it. No row if there was none. */
export const updateThreadDismissed = prepareQuery<{ id: string }, Pick<ThreadRow, 'message_count'>>((db, arg) =>
  clearUnanswered(db, arg('id')).returning('message_count'),
)

const clearUnanswered = (db: Db, id: string) =>
  db
    .updateTable('threads')
    .set({ unanswered_at: null, unanswered_reason: null, unanswered_task_id: null })
    .where('id', '=', id)
    .where('unanswered_at', 'is not', null)

/** The team has read every message. */
export async function updateThreadRead(db: Db, id: string): Promise<void> {
  await db
    .updateTable('threads')
    .set((row) => ({ read_count: row.ref('message_count') }))
    .where('id', '=', id)
    .execute()
}

/** Notes who has the conversation; null: the agent. False if it is so already. */
export async function updateThreadHolder(
  db: Db,
  id: string,
  holder: { kind: string; id: string } | null,
): Promise<boolean> {
  const query = db
    .updateTable('threads')
    .set({ held_by_kind: holder?.kind ?? null, held_by_id: holder?.id ?? null })
    .where('id', '=', id)
    .where((row) =>
      holder === null
        ? row('held_by_kind', 'is not', null)
        : row.or([row('held_by_id', 'is', null), row('held_by_id', '<>', holder.id)]),
    )
  return (await query.returning('id').execute()).length > 0
}

/** False if the thread was already closed. */
export async function updateThreadClosed(db: Db, id: string, now: string): Promise<boolean> {
  const query = db.updateTable('threads').set({ status: 'closed', updated_at: now }).where('id', '=', id)
  return (await query.where('status', '=', 'open').returning('id').execute()).length > 0
}

/** Call it only after `lockChannel`. False if the client has the conversation open on the channel, maybe in this thread. */
export async function updateThreadReopened(db: Db, thread: ThreadRow, now: string): Promise<boolean> {
  const { id, channel_id, client_id, conversation_key } = thread
  const others = db
    .selectFrom('threads')
    .select('id')
    .where('channel_id', '=', channel_id)
    .where('client_id', '=', client_id)
    .where('conversation_key', '=', conversation_key)
    .where('status', '=', 'open')
  const changed = await db
    .updateTable('threads')
    .set({ status: 'open', updated_at: now })
    .where('id', '=', id)
    .where((row) => row.not(row.exists(others)))
    .returning('id')
    .execute()
  return changed.length > 0
}

const STATE_COLUMNS = ['id', 'client_id', 'status', 'held_by_kind'] as const

/** Who has the conversation now. */
export type ThreadState = Pick<ThreadRow, (typeof STATE_COLUMNS)[number]>

/** Locks the thread until the commit. Call it after the task is locked, for a thread in scope. */
export const lockThread = prepareQuery<{ id: string }, ThreadState>((db, arg) =>
  db
    .selectFrom('threads')
    .select(STATE_COLUMNS)
    .where('id', '=', arg('id'))
    .$if(isPostgres(db), (query) => query.forNoKeyUpdate()),
)
