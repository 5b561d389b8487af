import { sql } from 'kysely'
import { NO_WAIT } from '../../approvals/lifecycle/add-to-reports.ts'
import { isInList, type ListArgument, toListArgument } from '../../platform/store/list-argument.ts'
import { type ArgumentOf, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import { isTerminalStatus, TASK_STATUSES } from '../../work/tasks/status.ts'

export interface ReportRange {
  projectIds: readonly string[]
  /** UTC days, both included. */
  from: string
  to: string
  /** The same days as months and days. */
  periods: readonly string[]
}

/** The runs of a wedge that were created on a day and have a status. */
export interface RunSum {
  day: string
  wedge: string
  status: string
  runs: number
  cost_micros: number
}

export interface ClientSum {
  client_id: string
  runs: number
  cost_micros: number
}

export interface ApprovalSum {
  status: string
  wait_ms: number
  n: number
}

/** All runs of the range: those that have ended from their sums, and the others one by one. */
export const listRunSums = (db: Db, range: ReportRange): Promise<RunSum[]> => readRunSums(db, toArguments(db, range))

/** The clients with the highest costs. */
export const listTopClients = (db: Db, range: ReportRange): Promise<ClientSum[]> =>
  readTopClients(db, toArguments(db, range))

/** The approvals of the range by status and waiting time, without questions. */
export const listApprovalSums = (db: Db, range: ReportRange): Promise<ApprovalSum[]> =>
  readApprovalSums(db, toArguments(db, range))

interface RangeArguments {
  projectIds: ListArgument
  from: string
  to: string
  periods: ListArgument
}

const toArguments = (db: Db, { projectIds, from, to, periods }: ReportRange): RangeArguments => ({
  projectIds: toListArgument(db, projectIds),
  from,
  to,
  periods: toListArgument(db, periods),
})

const readRunSums = prepareQuery<RangeArguments, RunSum>((db, arg) => {
  const ended = db
    .selectFrom('report_runs')
    .select(['day', 'wedge', 'status', 'runs', 'cost_micros'])
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where('day', '>=', arg('from'))
    .where('day', '<=', arg('to'))
  const others = unfinishedTasks(db, arg).select([
    CREATED_DAY.as('day'),
    'wedge',
    'status',
    ONE.as('runs'),
    'cost_micros',
  ])
  return db
    .selectFrom(ended.unionAll(others).as('runs_of_range'))
    .select(['day', 'wedge', 'status', sumOf('runs'), sumOf('cost_micros')])
    .groupBy(['day', 'wedge', 'status'])
})

/** The response lists at most this many clients. */
const MAX_CLIENTS_SHOWN = 100

const readTopClients = prepareQuery<RangeArguments, ClientSum>((db, arg) => {
  const ended = db
    .selectFrom('report_clients')
    .select(['client_id', 'runs', 'cost_micros'])
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where(isInList(db, 'period', arg('periods')))
  const others = unfinishedTasks(db, arg)
    .select(['client_id', ONE.as('runs'), 'cost_micros'])
    .where('client_id', 'is not', null)
    .$narrowType<{ client_id: string }>()
  return db
    .selectFrom(ended.unionAll(others).as('runs_of_range'))
    .select(['client_id', sumOf('runs'), sumOf('cost_micros')])
    .groupBy('client_id')
    .orderBy(sql`3`, 'desc')
    .orderBy('client_id')
    .limit(MAX_CLIENTS_SHOWN)
})

const readApprovalSums = prepareQuery<RangeArguments, ApprovalSum>((db, arg) => {
  const decided = db
    .selectFrom('report_approvals')
    .select(['status', 'wait_ms', 'n'])
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where(isInList(db, 'period', arg('periods')))
  const pending = db
    .selectFrom('approvals')
    .select(['status', sql.lit(NO_WAIT).as('wait_ms'), ONE.as('n')])
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where('status', '=', 'pending')
    .where('path', '<>', 'question')
    .where(CREATED_DAY, '>=', arg('from'))
    .where(CREATED_DAY, '<=', arg('to'))
  return db
    .selectFrom(decided.unionAll(pending).as('approvals_of_range'))
    .select(['status', 'wait_ms', sumOf('n')])
    .groupBy(['status', 'wait_ms'])
})

const UNFINISHED = TASK_STATUSES.filter((status) => !isTerminalStatus(status))

const unfinishedTasks = (db: Db, arg: ArgumentOf<RangeArguments>) =>
  db
    .selectFrom('tasks')
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where('status', 'in', UNFINISHED)
    .where(CREATED_DAY, '>=', arg('from'))
    .where(CREATED_DAY, '<=', arg('to'))

const CREATED_DAY = sql<string>`substr(created_at, 1, 10)`

const ONE = sql.lit(1)

/** A sum of whole numbers is a decimal on PostgreSQL, which arrives as a text. */
const sumOf = <Column extends 'runs' | 'cost_micros' | 'n'>(column: Column) =>
  sql<number>`cast(sum(${sql.ref(column)}) as bigint)`.as(column)
