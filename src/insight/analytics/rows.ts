import { type Expression, sql } from 'kysely'
import { isPostgres } from '../../platform/store/dialect.ts'
import { isInList, type ListArgument, toListArgument } from '../../platform/store/list-argument.ts'
import { type ArgumentOf, prepareQuery } from '../../platform/store/prepared-query.ts'
import { prepareManyRows } from '../../platform/store/prepared-rows.ts'
import type { Db } from '../../platform/store/store.ts'
import type { PeriodSum } from './periods.ts'

export interface ReportRange {
  projectIds: readonly string[]
  /** UTC days, both included. */
  from: string
  to: string
  /** The same days as periods to add and periods to subtract. */
  periods: PeriodSum
}

/** The runs that were created on a day. */
export interface DaySum {
  day: string
  runs: number
  succeeded: number
  cost_micros: number
}

export interface WedgeSum {
  wedge: string
  status: string
  runs: number
  cost_micros: number
}

interface RunSums {
  days: DaySum[]
  wedges: WedgeSum[]
}

/** The sums of the runs that are rolled up, by day, and by wedge and status. */
export const readRunSums = (db: Db, range: ReportRange): Promise<RunSums> =>
  isPostgres(db) ? readTogether(db, range) : readByProject(db, range)

/** Reads both sums with one statement. */
async function readTogether(db: Db, { projectIds, from, to }: ReportRange): Promise<RunSums> {
  const sums = await readBothSums(db, { projectIds: toListArgument(db, projectIds), from, to })
  return {
    days: sums.filter((sum) => sum.wedge === null),
    wedges: sums.filter((sum) => sum.wedge !== null),
  }
}

const readBothSums = prepareQuery<
  { projectIds: ListArgument; from: string; to: string },
  (DaySum & { wedge: null }) | (WedgeSum & { day: null })
>((db, arg) =>
  db
    .selectFrom('report_runs')
    .select(['day', 'wedge', 'status', ...runSums(db), succeededSum(db)])
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where('day', '>=', arg('from'))
    .where('day', '<=', arg('to'))
    .groupBy(sql`grouping sets ((day), (wedge, status))`)
    .$castTo<(DaySum & { wedge: null }) | (WedgeSum & { day: null })>(),
)

/** Reads the sums in the order of the indexes of a store that reads synchronously. Other requests get their turn in between. */
async function readByProject(db: Db, { projectIds, from, to }: ReportRange): Promise<RunSums> {
  const sums: RunSums = { days: [], wedges: [] }
  for (const projectId of projectIds) {
    sums.days.push(...(await readDaySums(db, { projectId, from, to })))
    sums.wedges.push(...(await readWedgeSums(db, { projectId, from, to })))
  }
  return sums
}

interface ProjectDays {
  projectId: string
  from: string
  to: string
}

const readDaySums = prepareManyRows<ProjectDays, DaySum>(['day', 'runs', 'succeeded', 'cost_micros'], (db, arg) =>
  projectRuns(db, arg, sql.ref('day'))
    .select(['day', ...runSums(db), succeededSum(db)])
    .groupBy('day'),
)

/** `+day` makes SQLite use the index that has the order of the groups, also without statistics. */
const readWedgeSums = prepareManyRows<ProjectDays, WedgeSum>(['wedge', 'status', 'runs', 'cost_micros'], (db, arg) =>
  projectRuns(db, arg, sql`+day`)
    .select(['wedge', 'status', ...runSums(db)])
    .groupBy(['wedge', 'status']),
)

const projectRuns = (db: Db, arg: ArgumentOf<ProjectDays>, day: Expression<string>) =>
  db
    .selectFrom('report_runs')
    .where('project_id', '=', arg('projectId'))
    .where(day, '>=', arg('from'))
    .where(day, '<=', arg('to'))

const runSums = (db: Db) => [sumOfColumn(db, 'runs'), sumOfColumn(db, 'cost_micros')] as const

const succeededSum = (db: Db) =>
  sumOf(db, sql<number>`case when status = 'succeeded' then runs else 0 end`).as('succeeded')

export interface ApprovalSum {
  status: string
  wait_ms: number
  n: number
}

/** A statement on SQLite reads at most this many periods of one project, because each can have thousands of different waits. */
const PERIODS_PER_STATEMENT = 8

/** The counts of the approvals that are rolled up. A status and a wait can come several times. */
export async function listApprovalSums(db: Db, { projectIds, periods }: ReportRange): Promise<ApprovalSum[]> {
  const spans = [...periods.plus, ...periods.minus]
  const read = (ids: readonly string[], some: readonly string[]) =>
    readApprovalSums(db, {
      projectIds: toListArgument(db, ids),
      spans: toListArgument(db, some),
      minus: toListArgument(db, periods.minus),
    })
  if (isPostgres(db)) return read(projectIds, spans)
  let sums: ApprovalSum[] = []
  for (const projectId of projectIds)
    for (let at = 0; at < spans.length; at += PERIODS_PER_STATEMENT)
      sums = sums.concat(await read([projectId], spans.slice(at, at + PERIODS_PER_STATEMENT)))
  return sums
}

const readApprovalSums = prepareManyRows<
  { projectIds: ListArgument; spans: ListArgument; minus: ListArgument },
  ApprovalSum
>(['status', 'wait_ms', 'n'], (db, arg) =>
  db
    .selectFrom('report_approvals')
    .select(['status', 'wait_ms', signedSum(db, 'n', arg('minus')).as('n')])
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where(isInList(db, 'span', arg('spans')))
    .groupBy(['status', 'wait_ms']),
)

/** The sum of a column over periods, of which some are subtracted. */
export function signedSum(db: Db, column: 'runs' | 'cost_micros' | 'n', minus: ListArgument) {
  const isSubtracted = isInList(db, 'span', minus)
  return sumOf(db, sql<number>`case when ${isSubtracted} then -${sql.ref(column)} else ${sql.ref(column)} end`)
}

/**
 * PostgreSQL adds integers as decimals, which takes twice as long. A double is exact for whole numbers up to 2^53, and so are
 * the numbers of a response.
 */
function sumOf(db: Db, value: Expression<number>) {
  const addend = isPostgres(db) ? sql`cast(${value} as double precision)` : value
  return sql<number>`cast(sum(${addend}) as bigint)`
}
const sumOfColumn = <Column extends 'runs' | 'cost_micros' | 'n'>(db: Db, column: Column) =>
  sumOf(db, sql.ref<number>(column)).as(column)
