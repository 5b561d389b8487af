import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { CLIENT_APPROVER } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow, TaskRow } from '../../platform/store/tables.ts'

/** One problem or waiting person, as a row of any of the tables below. */
export interface WaitingRow {
  id: string
  project_id: string
  title: string | null
  detail: string | null
  since: string
  wedge: string | null
}

/** The first rows of a query, and how many rows it has in all. */
export interface CountedRows<Row> {
  rows: Row[]
  total: number
}

async function listAndCount<Source, Table extends keyof Source, Row>(
  db: Db,
  query: SelectQueryBuilder<Source, Table, Row>,
  limit: number,
): Promise<CountedRows<Row>> {
  const found = await query.limit(limit + 1).execute()
  if (found.length <= limit) return { rows: found, total: found.length }
  return { rows: found.slice(0, limit), total: await countRows(db, query) }
}

async function countRows<Source, Table extends keyof Source, Row>(
  db: Db,
  query: SelectQueryBuilder<Source, Table, Row>,
): Promise<number> {
  const { n } = await db
    .selectFrom(query.clearOrderBy().as('found'))
    .select((found) => found.fn.countAll<number | string>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** The approvers of a request that only the client may decide about. */
const ONLY_CLIENT = JSON.stringify([CLIENT_APPROVER])

/** The pending approvals and questions, the oldest first, without those that are held or that only a client may decide about. */
export async function listPendingApprovals(
  db: Db,
  projectIds: readonly string[],
  limit: number,
): Promise<CountedRows<ApprovalRow> & { questions: number }> {
  const query = db
    .selectFrom('approvals')
    .selectAll()
    .where('project_id', 'in', projectIds)
    .where('status', '=', 'pending')
    .where('held_until', 'is', null)
    .where(sql<SqlBool>`coalesce(approvers, '') <> ${ONLY_CLIENT}`)
    .orderBy('id')
  const questions = await countRows(db, query.where('path', '=', 'question'))
  return { ...(await listAndCount(db, query, limit)), questions }
}

/** The name of a thread's client; the first address of one who has given none. */
const CLIENT_NAME = sql<string | null>`coalesce(clients.display_name,
  (select min(client_handles.shown) from client_handles where client_handles.client_id = threads.client_id))`

/** The conversation in which an approval was asked for. */
export interface ApprovalThread {
  id: string
  subject: string | null
  client_name: string | null
  adapter: string | null
}

/** The conversations of these tasks, by the id of the task. */
export async function listThreadsOfTasks(db: Db, taskIds: readonly string[]): Promise<Map<string, ApprovalThread>> {
  if (taskIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('tasks')
    .innerJoin('threads', 'threads.id', 'tasks.thread_id')
    .leftJoin('clients', 'clients.id', 'threads.client_id')
    .leftJoin('channels', 'channels.id', 'threads.channel_id')
    .select(['tasks.id as task_id', 'threads.id', 'threads.subject', 'channels.adapter'])
    .select(CLIENT_NAME.as('client_name'))
    .where('tasks.id', 'in', taskIds)
    .execute()
  return new Map(rows.map(({ task_id, ...thread }) => [task_id, thread]))
}

/** The conversations in which a client has waited longest for an answer that no run will give. */
export function listUnansweredThreads(
  db: Db,
  projectIds: readonly string[],
  limit: number,
): Promise<CountedRows<WaitingRow>> {
  const query = db
    .selectFrom('threads')
    .leftJoin('clients', 'clients.id', 'threads.client_id')
    .select([
      'threads.id',
      'threads.project_id',
      CLIENT_NAME.as('title'),
      'threads.unanswered_reason as detail',
      sql<string>`threads.unanswered_at`.as('since'),
      sql<string | null>`null`.as('wedge'),
    ])
    .where('threads.project_id', 'in', projectIds)
    .where('threads.unanswered_at', 'is not', null)
    .orderBy('threads.unanswered_at')
  return listAndCount(db, query, limit)
}

/** Tasks without a conversation that expired at this time or later and were not run again, newest first. */
export function listExpiredTasks(
  db: Db,
  projectIds: readonly string[],
  since: string,
  limit: number,
): Promise<CountedRows<TaskRow>> {
  const query = db
    .selectFrom('tasks')
    .selectAll()
    .where('status', '=', sql.lit('expired'))
    .where('project_id', 'in', projectIds)
    .where('finished_at', '>=', since)
    .where('thread_id', 'is', null)
    .where((row) =>
      row.not(
        row.exists(row.selectFrom('tasks as retries').select('id').whereRef('retries.retry_of', '=', 'tasks.id')),
      ),
    )
    .orderBy('id', 'desc')
  return listAndCount(db, query, limit)
}

/** Connections whose last call failed, because of the connection and not because of the request; without these ids. */
export function listFailingConnections(
  db: Db,
  projectIds: readonly string[],
  limit: number,
  exceptIds: readonly string[],
): Promise<CountedRows<WaitingRow>> {
  const query = db
    .selectFrom('connections')
    .select(['id', 'project_id', 'name as title', 'last_error as detail', sql<string | null>`null`.as('wedge')])
    .select(sql<string>`coalesce(last_error_at, updated_at)`.as('since'))
    .where('project_id', 'in', projectIds)
    .where('last_error', 'is not', null)
    .orderBy('id')
  return listAndCount(db, exceptIds.length === 0 ? query : query.where('id', 'not in', exceptIds), limit)
}

/** Channels that could not receive messages when they last tried. */
export function listFailingChannels(
  db: Db,
  projectIds: readonly string[],
  limit: number,
  exceptIds: readonly string[],
): Promise<CountedRows<WaitingRow>> {
  const query = db
    .selectFrom('channels')
    .select(['id', 'project_id', 'address as title', 'last_error as detail', 'wedge'])
    .select(sql<string>`coalesce(last_error_at, created_at)`.as('since'))
    .where('project_id', 'in', projectIds)
    .where('last_error', 'is not', null)
    .orderBy('id')
  return listAndCount(db, exceptIds.length === 0 ? query : query.where('id', 'not in', exceptIds), limit)
}

/** Enabled schedules whose last due time started no task, or whose last task failed. */
export function listFailingSchedules(
  db: Db,
  projectIds: readonly string[],
  limit: number,
): Promise<CountedRows<WaitingRow>> {
  const query = db
    .selectFrom('schedules')
    .leftJoin('tasks', 'tasks.id', 'schedules.last_task_id')
    .select(['schedules.id', 'schedules.project_id', 'schedules.name as title', 'schedules.wedge'])
    .select('schedules.last_error as detail')
    .select(sql<string>`coalesce(schedules.last_run_at, schedules.updated_at)`.as('since'))
    .where('schedules.project_id', 'in', projectIds)
    .where('schedules.enabled', '=', 1)
    .where((row) => row.or([row('schedules.last_error', 'is not', null), row('tasks.status', '=', 'failed')]))
    .orderBy('schedules.id')
  return listAndCount(db, query, limit)
}

/** The questions that runs asked because they lacked knowledge, newest first. */
export function listOpenIntakeQuestions(
  db: Db,
  projectIds: readonly string[],
  limit: number,
): Promise<CountedRows<WaitingRow>> {
  const query = db
    .selectFrom('intake_questions')
    .select(['question_id as id', 'project_id', 'question as title', 'why as detail', 'created_at as since', 'wedge'])
    .where('project_id', 'in', projectIds)
    .where('status', '=', sql.lit('open'))
    .where('asked', '>', sql.lit(0))
    .orderBy('created_at', 'desc')
  return listAndCount(db, query, limit)
}
