import type { ExpressionBuilder } from 'kysely'
import { isPostgres } from '../../../platform/store/dialect.ts'
import { prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { QueuedTask, Tables } from '../../../platform/store/tables.ts'
import { CLAIMED_STATUSES } from '../../../work/tasks/status.ts'

/**
 * A queued task can be claimed once its settle time is over. A thread has one run at a time, in the order of its tasks, and
 * none while a person has taken the conversation over.
 */
export const isClaimable = (eb: ExpressionBuilder<Tables, 'tasks'>, now: string) =>
  eb.and([
    eb.or([eb('tasks.ready_at', 'is', null), eb('tasks.ready_at', '<=', now)]),
    eb.or([
      eb('tasks.thread_id', 'is', null),
      eb.and([eb.not(eb.exists(earlierTaskOfThread(eb))), eb.not(eb.exists(holderOfThread(eb)))]),
    ]),
  ])

const earlierTaskOfThread = (eb: ExpressionBuilder<Tables, 'tasks'>) =>
  eb
    .selectFrom('tasks as other')
    .select('other.id')
    .whereRef('other.thread_id', '=', 'tasks.thread_id')
    .where((other) =>
      other.or([
        other('other.status', 'in', CLAIMED_STATUSES),
        other.and([other('other.status', '=', 'queued'), other('other.id', '<', other.ref('tasks.id'))]),
      ]),
    )

const holderOfThread = (eb: ExpressionBuilder<Tables, 'tasks'>) =>
  eb
    .selectFrom('threads')
    .select('threads.id')
    .whereRef('threads.id', '=', 'tasks.thread_id')
    .where('threads.held_by_kind', 'is not', null)

/**
 * The next project with tasks to claim after the one that was served last, in a circle; null if there is none. Uses
 * `order by` instead of `min`, so that both databases read one entry of the queue index.
 */
export const findNextQueuedProject = prepareQuery<{ after: string; now: string }, { project_id: string | null }>(
  (db, arg) =>
    db.selectNoFrom((eb) =>
      eb.fn
        .coalesce(
          firstQueuedProject(db, arg('now')).where('project_id', '>', arg('after')),
          firstQueuedProject(db, arg('now')),
        )
        .as('project_id'),
    ),
)

/** Whether a task can be claimed: a queued one, or one that was released. */
export const hasClaimableTask = prepareQuery<{ now: string }, { claimable: string | null }>((db, arg) =>
  db.selectNoFrom((eb) => eb.fn.coalesce(firstReleasedTask(db), firstQueuedProject(db, arg('now'))).as('claimable')),
)

const firstReleasedTask = (db: Db) => releasedTasks(db).select('tasks.id').limit(1)

/** Tasks that can continue and that no replica executes. */
export const releasedTasks = (db: Db) =>
  db
    .selectFrom('tasks')
    .innerJoin('run_states', 'run_states.task_id', 'tasks.id')
    .where('tasks.status', '=', 'running')
    .where('tasks.replica', 'is', null)

const firstQueuedProject = (db: Db, now: string) =>
  db
    .selectFrom('tasks')
    .select('project_id')
    .where('status', '=', 'queued')
    .where((eb) => isClaimable(eb, now))
    .orderBy('project_id')
    .orderBy('id')
    .limit(1)

/** The oldest tasks of a project that can be claimed. */
export const lockQueuedTasks = (limit: number) =>
  prepareQuery<{ project_id: string; now: string }, QueuedTask>((db, arg) =>
    oldestQueuedTasks(db, arg('project_id'), arg('now'), limit),
  )

export const oldestQueuedTasks = (db: Db, projectId: string, now: string, limit: number) =>
  db
    .selectFrom('tasks')
    .innerJoin('projects', 'projects.id', 'tasks.project_id')
    .selectAll('tasks')
    .select('projects.tier')
    .where('tasks.status', '=', 'queued')
    .where('tasks.project_id', '=', projectId)
    .where((eb) => isClaimable(eb, now))
    .orderBy('tasks.id')
    .limit(limit)
    // Replicas that claim at the same time get different tasks instead of waiting for each other.
    .$if(isPostgres(db), (query) => query.forUpdate('tasks').skipLocked())

/** Released tasks with what a run needs, the oldest first. */
export const oldestReleasedTasks = (db: Db, limit: number) =>
  releasedTasks(db)
    .innerJoin('projects', 'projects.id', 'tasks.project_id')
    .selectAll('tasks')
    .select('projects.tier')
    .orderBy('tasks.id')
    .limit(limit)
    .$if(isPostgres(db), (query) => query.forUpdate('tasks').skipLocked())

export const lockReleasedTasks = prepareQuery<{ limit: number }, QueuedTask>((db, arg) =>
  oldestReleasedTasks(db, arg('limit')),
)

/**
 * Makes sure that no other task of the thread starts before the commit. False if another transaction has locked the thread,
 * or a task of it has started meanwhile. SQLite has one writer, so what `lockQueuedTasks` has read is still true.
 */
export async function lockThreadForRun(db: Db, threadId: string): Promise<boolean> {
  if (!isPostgres(db)) return true
  // Waiting here could deadlock, because a message locks its thread after the tasks.
  const [free] = await lockFreeThread(db, { id: threadId })
  if (!free) return false
  // A second statement, because the first one sees the tasks as they were before the lock.
  return (await findStartedTaskOfThread(db, { thread_id: threadId })).length === 0
}

const lockFreeThread = prepareQuery<{ id: string }, { id: string }>((db, arg) =>
  db
    .selectFrom('threads')
    .select('id')
    .where('id', '=', arg('id'))
    .where('held_by_kind', 'is', null)
    .forNoKeyUpdate()
    .skipLocked(),
)

const findStartedTaskOfThread = prepareQuery<{ thread_id: string }, { id: string }>((db, arg) =>
  db
    .selectFrom('tasks')
    .select('id')
    .where('thread_id', '=', arg('thread_id'))
    .where('status', 'in', CLAIMED_STATUSES)
    .limit(1),
)
