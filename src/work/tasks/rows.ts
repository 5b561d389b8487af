import { type Expression, sql, type SqlBool } from 'kysely'
import { WRITABLE_STATUSES } from '../events/rows.ts'
import type { PageQuery } from '../../platform/http/page.ts'
import { isPostgres } from '../../platform/store/dialect.ts'
import { isInProjects, listNewestOfProjects, listNewestPage, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ArtifactFileRow, ArtifactRow, ReplicaRow, TaskRow } from '../../platform/store/tables.ts'
import type { TaskStatus } from './status.ts'
import type { ArtifactHead } from './view.ts'

export const insertTask = prepareQuery<TaskRow>((db, arg) =>
  db
    .insertInto('tasks')
    .values({
      id: arg('id'),
      project_id: arg('project_id'),
      wedge: arg('wedge'),
      task_type: arg('task_type'),
      status: arg('status'),
      input: arg('input'),
      actor: arg('actor'),
      constraints: arg('constraints'),
      tools: arg('tools'),
      output_schema: arg('output_schema'),
      output: null,
      error: null,
      cost_micros: 0,
      client_id: arg('client_id'),
      thread_id: arg('thread_id'),
      channel_id: arg('channel_id'),
      case_id: arg('case_id'),
      schedule_id: arg('schedule_id'),
      retry_of: arg('retry_of'),
      requested_by_kind: arg('requested_by_kind'),
      requested_by_id: arg('requested_by_id'),
      last_event_id: arg('last_event_id'),
      counted_events: 0,
      epoch: arg('epoch'),
      replica: arg('replica'),
      ready_at: arg('ready_at'),
      created_at: arg('created_at'),
      started_at: arg('started_at'),
      finished_at: null,
      log_pruned_at: null,
      traceparent: arg('traceparent'),
      tracestate: arg('tracestate'),
    })
    .$castTo<never>(),
)

const taskById = prepareQuery<{ id: string }, TaskRow>((db, arg) =>
  db.selectFrom('tasks').selectAll().where('id', '=', arg('id')),
)

/** Not limited to a scope: never pass an id that came from a caller. */
export async function findTaskUnscoped(db: Db, id: string): Promise<TaskRow | undefined> {
  return (await taskById(db, { id }))[0]
}

/** The columns of a task that its lock reads. */
export type LockedTask = Pick<TaskRow, (typeof LOCKED_TASK_COLUMNS)[number]>

const LOCKED_TASK_COLUMNS = [
  'id',
  'project_id',
  'status',
  'epoch',
  'replica',
  'thread_id',
  'log_pruned_at',
  'requested_by_kind',
  'requested_by_id',
] as const

/**
 * Locks the task until the commit. Every decision about a task's approvals takes this lock first, so decisions do not
 * overlap and all locks are taken in one order: the task before its approvals.
 */
export const lockTask = prepareQuery<{ id: string }, LockedTask>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(LOCKED_TASK_COLUMNS)
    .where('id', '=', arg('id'))
    .$if(isPostgres(db), (query) => query.forNoKeyUpdate()),
)

/** Adds to the cost of a running task and reserves the number of one event. */
export const updateTaskCost = prepareQuery<
  { id: string; epoch: number; micros: number },
  { last_event_id: number; cost_micros: number }
>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({
      cost_micros: eb('cost_micros', '+', arg('micros')),
      last_event_id: eb('last_event_id', '+', 1),
    }))
    .where('id', '=', arg('id'))
    .where('epoch', '=', arg('epoch'))
    .where('status', 'in', WRITABLE_STATUSES)
    .returning(['last_event_id', 'cost_micros']),
)

/** The columns of a task that an event stream needs. */
export type TaskHead = Pick<TaskRow, (typeof TASK_HEAD_COLUMNS)[number]>

const TASK_HEAD_COLUMNS = ['id', 'project_id', 'status', 'last_event_id'] as const

const taskHeadById = prepareQuery<{ id: string }, TaskHead>((db, arg) =>
  db.selectFrom('tasks').select(TASK_HEAD_COLUMNS).where('id', '=', arg('id')),
)

export async function findTaskHead(db: Db, projectIds: readonly string[], id: string): Promise<TaskHead | undefined> {
  const [head] = await taskHeadById(db, { id })
  return head && projectIds.includes(head.project_id) ? head : undefined
}

export async function findTask(db: Db, projectIds: readonly string[], id: string): Promise<TaskRow | undefined> {
  const row = await findTaskUnscoped(db, id)
  return row && projectIds.includes(row.project_id) ? row : undefined
}

export interface TaskFilter extends PageQuery {
  status?: TaskStatus | undefined
  wedge?: string | undefined
  client_id?: string | undefined
  case_id?: string | undefined
  /** Tasks that expired at this time or later and were not run again. */
  expired_since?: string | undefined
}

/** Newest first, one more than a page: the extra row shows that there is a next page. */
export function listTasks(db: Db, projectIds: readonly string[], filter: TaskFilter): Promise<TaskRow[]> {
  const { status, wedge, client_id, case_id, expired_since } = filter
  const tasks = db.selectFrom('tasks').selectAll()
  if (case_id === undefined && client_id === undefined)
    return listNewestOfProjects({
      projectIds,
      page: filter,
      rows: { query: tasks, filters: [...matchColumns({ status, wedge }), ...expiredFilters(expired_since)] },
      searchIn: (projectId) =>
        expired_since === undefined
          ? searchTasks(db, projectId, filter)
          : searchExpiredTasks(db, projectId, expired_since, filter),
    })
  const owned =
    case_id === undefined ? tasks.where('client_id', '=', client_id ?? '') : tasks.where('case_id', '=', case_id)
  const columns = matchColumns({ status, wedge, client_id: case_id === undefined ? undefined : client_id })
  return listNewestPage(owned, filter, [isInProjects(projectIds), ...columns, ...expiredFilters(expired_since)])
}

function searchTasks(db: Db, projectId: string, { status, wedge }: TaskFilter) {
  const ofProject = db.selectFrom('tasks').selectAll().where('project_id', '=', projectId)
  if (status !== undefined) return { query: ofProject.where('status', '=', status), filters: matchColumns({ wedge }) }
  return { query: wedge === undefined ? ofProject : ofProject.where('wedge', '=', wedge) }
}

async function searchExpiredTasks(db: Db, projectId: string, since: string, { status, wedge }: TaskFilter) {
  const oldest = await findOldestExpired(db, projectId, since)
  if (oldest === null) return null
  const ofProject = db.selectFrom('tasks').selectAll().where('project_id', '=', projectId)
  const expired = ofProject.where('status', '=', sql.lit('expired')).where('id', '>=', oldest)
  return { query: expired, filters: [...matchColumns({ status, wedge }), ...expiredFilters(since)] }
}

/** The lowest id of the tasks that expired at this time or later: a list need not search before it. */
async function findOldestExpired(db: Db, projectId: string, since: string): Promise<string | null> {
  const query = db
    .selectFrom('tasks')
    .select((eb) => eb.fn.min('id').as('id'))
    .where('status', '=', sql.lit('expired'))
    .where('project_id', '=', projectId)
    .where('finished_at', '>=', since)
  return (await query.executeTakeFirst())?.id ?? null
}

/** Tasks that expired at this time or later and were not run again. No filter without a time. */
function expiredFilters(since: string | undefined): Expression<SqlBool>[] {
  if (since === undefined) return []
  return [
    ...matchColumns({ status: 'expired' }),
    sql<SqlBool>`finished_at >= ${since}`,
    sql<SqlBool>`not exists (select id from tasks as retries where retries.retry_of = tasks.id)`,
  ]
}

/** The tasks of a project that wait for approvals, as many as can matter for a limit of waiting runs. */
export const listWaitingTasks = prepareQuery<
  { project_id: string },
  Pick<TaskRow, 'wedge' | 'task_type' | 'tools' | 'replica'>
>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(['wedge', 'task_type', 'tools', 'replica'])
    .where('status', '=', 'awaiting_approval')
    .where('project_id', '=', arg('project_id'))
    .limit(1000),
)

/** What limits the tasks of a replica. */
export type RunnerRow = Pick<ReplicaRow, 'runner_projects' | 'runner_wedges'>

/** The replicas that run tasks and whose heartbeat is recent. */
export const listRunners = prepareQuery<{ since: string }, RunnerRow>((db, arg) =>
  db
    .selectFrom('replicas')
    .select(['runner_projects', 'runner_wedges'])
    .where('seen_at', '>=', arg('since'))
    .where((eb) => eb.or([eb('max_tasks', 'is', null), eb('max_tasks', '>', 0)])),
)

const ARTIFACT_HEAD_COLUMNS = ['id', 'task_id', 'name', 'content_type', 'size'] as const

const listArtifactsOfTask = prepareQuery<{ task_id: string }, ArtifactHead>((db, arg) =>
  db.selectFrom('artifacts').select(ARTIFACT_HEAD_COLUMNS).where('task_id', '=', arg('task_id')).orderBy('id'),
)

export async function listArtifacts(db: Db, taskIds: readonly string[]): Promise<ArtifactHead[]> {
  const [first] = taskIds
  if (!first) return []
  if (taskIds.length === 1) return listArtifactsOfTask(db, { task_id: first })
  return db
    .selectFrom('artifacts')
    .select(ARTIFACT_HEAD_COLUMNS)
    .where('task_id', 'in', taskIds)
    .orderBy('id')
    .execute()
}

export const insertArtifact = prepareQuery<ArtifactRow>((db, arg) =>
  db
    .insertInto('artifacts')
    .values({
      id: arg('id'),
      project_id: arg('project_id'),
      task_id: arg('task_id'),
      name: arg('name'),
      content_type: arg('content_type'),
      size: arg('size'),
      storage: arg('storage'),
      created_at: arg('created_at'),
    })
    .$castTo<never>(),
)

export const insertArtifactFile = prepareQuery<ArtifactFileRow>((db, arg) =>
  db
    .insertInto('artifact_files')
    .values({ artifact_id: arg('artifact_id'), content: arg('content') })
    .$castTo<never>(),
)

/** The artifact with the output of its task, because the output is the content of `output.json`. */
export function findArtifact(db: Db, projectIds: readonly string[], id: string) {
  return db
    .selectFrom('artifacts')
    .innerJoin('tasks', 'tasks.id', 'artifacts.task_id')
    .leftJoin('artifact_files', 'artifact_files.artifact_id', 'artifacts.id')
    .select([
      'artifacts.id',
      'artifacts.name',
      'artifacts.content_type',
      'artifacts.size',
      'artifacts.storage',
      'artifact_files.content',
      'artifacts.task_id',
      'tasks.output',
      'tasks.client_id',
    ])
    .where('artifacts.id', '=', id)
    .where('artifacts.project_id', 'in', projectIds)
    .executeTakeFirst()
}
