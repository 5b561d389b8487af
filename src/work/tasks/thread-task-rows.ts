import { isPostgres } from '../../platform/store/dialect.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { TaskRow } from '../../platform/store/tables.ts'
import { CLAIMED_STATUSES } from './status.ts'

export type WaitingTask = Pick<TaskRow, 'id' | 'input' | 'created_at'>

/** The newest task of a thread that still waits for its run, and that a message started; locks it until the commit. */
export const lockWaitingTask = prepareQuery<{ thread_id: string }, WaitingTask>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(['id', 'input', 'created_at'])
    .where('thread_id', '=', arg('thread_id'))
    .where('status', '=', 'queued')
    .where('channel_id', 'is not', null)
    .where('retry_of', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .$if(isPostgres(db), (query) => query.forNoKeyUpdate()),
)

/** Changes a task that `lockWaitingTask` has locked. */
export const updateWaitingTask = prepareQuery<Pick<TaskRow, 'id' | 'input' | 'ready_at'>>((db, arg) =>
  db
    .updateTable('tasks')
    .set({ input: arg('input'), ready_at: arg('ready_at') })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

/** A task of the thread that has begun and not ended, or that waits in the queue. One is enough. */
export const findUnfinishedTaskOfThread = prepareQuery<{ thread_id: string }, Pick<TaskRow, 'id'>>((db, arg) =>
  db
    .selectFrom('tasks')
    .select('id')
    .where('thread_id', '=', arg('thread_id'))
    .where('status', 'in', ['queued', ...CLAIMED_STATUSES])
    .limit(1),
)

export type UnfinishedThreadTask = Pick<TaskRow, 'id' | 'thread_id' | 'status'>

/** The tasks of these threads that have begun and not ended, or that wait in the queue. */
export async function listUnfinishedTasksOfThreads(
  db: Db,
  threadIds: readonly string[],
): Promise<UnfinishedThreadTask[]> {
  if (threadIds.length === 0) return []
  return db
    .selectFrom('tasks')
    .select(['id', 'thread_id', 'status'])
    .where('thread_id', 'in', threadIds)
    .where('status', 'in', ['queued', ...CLAIMED_STATUSES])
    .execute()
}

/** The tasks of a thread that wait for their run or for an approval; locks them until the commit. */
export const lockWaitingTasksOfThread = prepareQuery<{ thread_id: string }, Pick<TaskRow, 'id' | 'status'>>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(['id', 'status'])
    .where('thread_id', '=', arg('thread_id'))
    .where('status', 'in', ['queued', 'awaiting_approval'])
    .orderBy('id')
    .$if(isPostgres(db), (query) => query.forNoKeyUpdate()),
)
