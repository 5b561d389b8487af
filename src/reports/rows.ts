import { sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { TASK_STATUSES } from '../tasks/status.ts'
import type { RollupSource } from './rollup-rows.ts'
import type { PeriodSum } from './periods.ts'

export interface ReportRange {
  projectId: string
  /** UTC days, both included. */
  from: string
  to: string
  /** The same days as sums to add and sums to take away. */
  spans: PeriodSum
}

export interface RunSum {
  /** Every run is in the sum of its day and once more in that of its wedge. */
  by: 'day' | 'wedge'
  name: string
  status: string
  runs: number
  cost_micros: number
}

/**
 * Each of these is one statement over the sums, the rows behind them that were left open and the rows that are not
 * folded yet: one moment is seen, so a fold under way counts nothing twice and nothing never.
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

/** The dearest first. A client whose runs are all taken away again has none in these days. */
export function listClientSums(db: Db, range: ReportRange, most: number): Promise<ClientSum[]> {
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
    .limit(most)
    .execute()
}

function rolledUpClients(db: Db, { projectId, spans }: ReportRange) {
  const sums = db.selectFrom('report_clients').where('project_id', '=', projectId)
  return sums
    .select(['client_id', 'runs', 'cost_micros'])
    .where('span', 'in', spans.plus)
    .unionAll(
      sums
        .select(['client_id', negative('runs').as('runs'), negative('cost_micros').as('cost_micros')])
        .where('span', 'in', nonEmptyList(spans.minus)),
    )
}

export interface ApprovalSum {
  status: string
  n: number
  /** Null while the row is not folded: then the times and who decided tell. */
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

function rolledUpApprovals(db: Db, { projectId, spans }: ReportRange) {
  const sums = db.selectFrom('report_approvals').where('project_id', '=', projectId)
  return sums
    .select(['status', 'wait_ms', 'n'])
    .where('span', 'in', spans.plus)
    .unionAll(sums.select(['status', 'wait_ms', negative('n').as('n')]).where('span', 'in', nonEmptyList(spans.minus)))
}

/** Rows that are not in the sums: those beyond the mark, and those before it that were left open. */
function liveTasks(db: Db, { projectId, from, to }: ReportRange) {
  const columns = ['tasks.wedge', 'tasks.status', 'tasks.client_id', 'tasks.cost_micros'] as const
  const beyond = db
    .selectFrom('tasks')
    .select([TASK_DAY.as('day'), sql<number>`1`.as('runs'), ...columns])
    // All of them, named: the index that there is begins with the status.
    .where('tasks.status', 'in', TASK_STATUSES)
    .where('tasks.project_id', '=', projectId)
    .where('tasks.id', '>', rollupMark(projectId, 'tasks'))
    .where('tasks.created_at', '>=', from)
    .where('tasks.created_at', '<', endOfDay(to))
  const left = db
    .selectFrom('report_open')
    .innerJoin('tasks', 'tasks.id', 'report_open.id')
    .select([TASK_DAY.as('day'), sql<number>`1`.as('runs'), ...columns])
    .where('report_open.project_id', '=', projectId)
    .where('report_open.source', '=', 'tasks')
    .where('tasks.created_at', '>=', from)
    .where('tasks.created_at', '<', endOfDay(to))
  return db.selectFrom(beyond.unionAll(left).as('live'))
}

function liveApprovals(db: Db, { projectId, from, to }: ReportRange) {
  const columns = ['approvals.created_at', 'approvals.decided_at', 'approvals.decided_by_kind'] as const
  const beyond = db
    .selectFrom('approvals')
    .select(['approvals.status', sql<number>`1`.as('n'), sql<number | null>`null`.as('wait_ms'), ...columns])
    .where('approvals.project_id', '=', projectId)
    .where('approvals.id', '>', rollupMark(projectId, 'approvals'))
    .where('approvals.created_at', '>=', from)
    .where('approvals.created_at', '<', endOfDay(to))
  const left = db
    .selectFrom('report_open')
    .innerJoin('approvals', 'approvals.id', 'report_open.id')
    .select(['approvals.status', sql<number>`1`.as('n'), sql<number | null>`null`.as('wait_ms'), ...columns])
    .where('report_open.project_id', '=', projectId)
    .where('report_open.source', '=', 'approvals')
    .where('approvals.created_at', '>=', from)
    .where('approvals.created_at', '<', endOfDay(to))
  return beyond.unionAll(left)
}

const rollupMark = (projectId: string, source: RollupSource) =>
  sql<string>`coalesce((select folded_to from report_marks where project_id = ${projectId} and source = ${source}), '')`
const TASK_DAY = sql<string>`substr(tasks.created_at, 1, 10)`
/** Sorts after every time of the day. */
const endOfDay = (to: string) => `${to}U`
/** PostgreSQL sums whole numbers to decimals, which come as text. */
const sumOf = (column: string) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`
const negative = (column: string) => sql<number>`-${sql.ref(column)}`
/** PostgreSQL knows no empty list; no span has this name. */
const nonEmptyList = (spans: readonly string[]) => (spans.length === 0 ? [''] : spans)
