import { sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { TASK_STATUSES } from '../tasks/status.ts'
import type { PeriodSum } from './periods.ts'
import type { RollupSource } from './rollup-rows.ts'

export interface ReportRange {
  projectId: string
  /** UTC days, both included. */
  from: string
  to: string
  /** The same days as periods to add and periods to subtract. */
  periods: PeriodSum
}

export interface RunSum {
  /** Every run is in the sum of its day and in the sum of its wedge. */
  by: 'day' | 'wedge'
  name: string
  status: string
  runs: number
  cost_micros: number
}

/**
 * Each report is one statement over the sums, the open rows and the rows that are not rolled up yet. One statement reads
 * one snapshot, so a concurrent rollup neither counts a row twice nor loses it.
 */
export function listRunSums(db: Db, range: ReportRange): Promise<RunSum[]> {
  const { projectId, from, to } = range
  const all = db.with('all_runs', () =>
    db
      .selectFrom('report_runs')
      .select(['day', 'wedge', 'status', 'runs', 'cost_micros'])
      .where('project_id', '=', projectId)
      .where('day', '>=', from)
      .where('day', '<=', to)
      .unionAll(liveTasks(db, range).select(['day', 'wedge', 'status', 'runs', 'cost_micros'])),
  )
  const sums = [sumOf('runs').as('runs'), sumOf('cost_micros').as('cost_micros')] as const
  return all
    .selectFrom('all_runs')
    .select([sql<'day' | 'wedge'>`'day'`.as('by'), 'day as name', 'status', ...sums])
    .groupBy(['day', 'status'])
    .unionAll((eb) =>
      eb
        .selectFrom('all_runs')
        .select([sql<'day' | 'wedge'>`'wedge'`.as('by'), 'wedge as name', 'status', ...sums])
        .groupBy(['wedge', 'status']),
    )
    .execute()
}

export interface ClientSum {
  client_id: string
  runs: number
  cost_micros: number
}

/** Highest cost first. Clients without runs in the range are left out: their periods add and subtract to zero. */
export function listClientSums(db: Db, range: ReportRange, limit: number): Promise<ClientSum[]> {
  const live = liveTasks(db, range)
    .select((of) => [of.ref('client_id').$notNull().as('client_id'), 'runs', 'cost_micros'])
    .where('client_id', 'is not', null)
  return db
    .selectFrom(rolledUpClients(db, range).unionAll(live).as('all_runs'))
    .select(['client_id', sumOf('runs').as('runs'), sumOf('cost_micros').as('cost_micros')])
    .groupBy('client_id')
    .having(sumOf('runs'), '>', 0)
    .orderBy('cost_micros', 'desc')
    .orderBy('client_id')
    .limit(limit)
    .execute()
}

function rolledUpClients(db: Db, { projectId, periods }: ReportRange) {
  const sums = db.selectFrom('report_clients').where('project_id', '=', projectId)
  return sums
    .select(['client_id', 'runs', 'cost_micros'])
    .where('span', 'in', periods.plus)
    .unionAll(
      sums
        .select(['client_id', negative('runs').as('runs'), negative('cost_micros').as('cost_micros')])
        .where('span', 'in', nonEmptyList(periods.minus)),
    )
}

export interface ApprovalSum {
  status: string
  n: number
  /** Null if the row is not rolled up: then it is computed from the times and the decider. */
  wait_ms: number | null
  created_at: string
  decided_at: string | null
  decided_by_kind: string | null
}

export function listApprovalSums(db: Db, range: ReportRange): Promise<ApprovalSum[]> {
  return db
    .selectFrom(rolledUpApprovals(db, range).as('folded'))
    .select([
      'status',
      sumOf('n').as('n'),
      sql<number | null>`wait_ms`.as('wait_ms'),
      sql<string>`''`.as('created_at'),
      sql<string | null>`null`.as('decided_at'),
      sql<string | null>`null`.as('decided_by_kind'),
    ])
    .groupBy(['status', 'wait_ms'])
    .unionAll(liveApprovals(db, range))
    .execute()
}

function rolledUpApprovals(db: Db, { projectId, periods }: ReportRange) {
  const sums = db.selectFrom('report_approvals').where('project_id', '=', projectId)
  return sums
    .select(['status', 'wait_ms', 'n'])
    .where('span', 'in', periods.plus)
    .unionAll(
      sums.select(['status', 'wait_ms', negative('n').as('n')]).where('span', 'in', nonEmptyList(periods.minus)),
    )
}

/** The rows that are not in the sums: those after the mark, and the open ones before it. */
function liveTasks(db: Db, { projectId, from, to }: ReportRange) {
  const columns = ['tasks.wedge', 'tasks.status', 'tasks.client_id', 'tasks.cost_micros'] as const
  const afterMark = db
    .selectFrom('tasks')
    .select([TASK_DAY.as('day'), sql<number>`1`.as('runs'), ...columns])
    // All statuses are listed, because the index begins with the status.
    .where('tasks.status', 'in', TASK_STATUSES)
    .where('tasks.project_id', '=', projectId)
    .where('tasks.id', '>', rollupMark(projectId, 'tasks'))
    .where('tasks.created_at', '>=', from)
    .where('tasks.created_at', '<', endOfDay(to))
  const open = db
    .selectFrom('report_open')
    .innerJoin('tasks', 'tasks.id', 'report_open.id')
    .select([TASK_DAY.as('day'), sql<number>`1`.as('runs'), ...columns])
    .where('report_open.project_id', '=', projectId)
    .where('report_open.source', '=', 'tasks')
    .where('tasks.created_at', '>=', from)
    .where('tasks.created_at', '<', endOfDay(to))
  return db.selectFrom(afterMark.unionAll(open).as('live'))
}

function liveApprovals(db: Db, { projectId, from, to }: ReportRange) {
  const columns = ['approvals.created_at', 'approvals.decided_at', 'approvals.decided_by_kind'] as const
  const afterMark = db
    .selectFrom('approvals')
    .select(['approvals.status', sql<number>`1`.as('n'), sql<number | null>`null`.as('wait_ms'), ...columns])
    .where('approvals.project_id', '=', projectId)
    .where('approvals.id', '>', rollupMark(projectId, 'approvals'))
    .where('approvals.created_at', '>=', from)
    .where('approvals.created_at', '<', endOfDay(to))
  const open = db
    .selectFrom('report_open')
    .innerJoin('approvals', 'approvals.id', 'report_open.id')
    .select(['approvals.status', sql<number>`1`.as('n'), sql<number | null>`null`.as('wait_ms'), ...columns])
    .where('report_open.project_id', '=', projectId)
    .where('report_open.source', '=', 'approvals')
    .where('approvals.created_at', '>=', from)
    .where('approvals.created_at', '<', endOfDay(to))
  return afterMark.unionAll(open)
}

const rollupMark = (projectId: string, source: RollupSource) =>
  sql<string>`coalesce((select folded_to from report_marks where project_id = ${projectId} and source = ${source}), '')`
const TASK_DAY = sql<string>`substr(tasks.created_at, 1, 10)`
/** Sorts after every time of the day: `U` comes after `T`. */
const endOfDay = (to: string) => `${to}U`
/** The sum of integers is a decimal in PostgreSQL, which the driver returns as text. */
const sumOf = (column: string) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`
const negative = (column: string) => sql<number>`-${sql.ref(column)}`
/** PostgreSQL does not accept an empty list, and no period has an empty name. */
const nonEmptyList = (names: readonly string[]) => (names.length === 0 ? [''] : names)
