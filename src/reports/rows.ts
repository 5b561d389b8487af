import { setImmediate } from 'node:timers/promises'
import { type Expression, type SqlBool, sql } from 'kysely'
import { isPostgres } from '../store/dialect.ts'
import type { Db } from '../store/store.ts'
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

/** The sums by day of the runs that are rolled up. */
export function listDaySums(db: Db, range: ReportRange): Promise<DaySum[]> {
  const succeeded = sql<number>`case when status = 'succeeded' then runs else 0 end`
  return runSumsIn(db, range)
    .select('day')
    .select([sumOfColumn(db, 'runs'), sumOf(db, succeeded).as('succeeded'), sumOfColumn(db, 'cost_micros')])
    .groupBy('day')
    .execute()
}

export interface WedgeSum {
  wedge: string
  status: string
  runs: number
  cost_micros: number
}

/** The sums by wedge and status of the runs that are rolled up. */
export function listWedgeSums(db: Db, range: ReportRange): Promise<WedgeSum[]> {
  return runSumsIn(db, range)
    .select(['wedge', 'status', sumOfColumn(db, 'runs'), sumOfColumn(db, 'cost_micros')])
    .groupBy(['wedge', 'status'])
    .execute()
}

const runSumsIn = (db: Db, { projectIds, from, to }: ReportRange) =>
  db.selectFrom('report_runs').where('project_id', 'in', projectIds).where('day', '>=', from).where('day', '<=', to)

export interface ClientSum {
  client_id: string
  runs: number
  cost_micros: number
}

/**
 * The `limit` clients with the highest costs in each part of the range, of what is rolled up. A store that reads
 * synchronously reads them by project and in ranges of ids, so that many clients do not block it. Clients without runs in
 * the report are left out: their periods add and subtract to zero.
 */
export async function* readTopClientSums(db: Db, range: ReportRange, limit: number): AsyncGenerator<ClientSum[]> {
  if (isPostgres(db)) {
    yield await topClients(db, range, ALL_CLIENTS, limit)
    return
  }
  for (const projectId of range.projectIds) {
    const ofProject = { ...range, projectIds: [projectId] }
    for (let after: string | null = ''; after !== null; ) {
      const upTo: string | null = await findClientRangeEnd(db, ofProject, after)
      yield await topClients(db, ofProject, { after, upTo }, limit)
      after = upTo
      await setImmediate()
    }
  }
}

const topClients = (db: Db, range: ReportRange, clients: ClientRange, limit: number): Promise<ClientSum[]> =>
  sumClients(db, range, isInClientRange(clients))
    .orderBy('cost_micros', 'desc')
    .orderBy('client_id')
    .limit(limit)
    .execute()

/** The range without the periods in which no client has runs: the sums of all clients need fewer comparisons. */
export async function withClientPeriods(db: Db, range: ReportRange): Promise<ReportRange> {
  const { projectIds, periods } = range
  const spans = [...periods.plus, ...periods.minus].map((span) => sql`select ${span} as span`)
  const { rows } = await sql<{ span: string }>`select span from (${sql.join(spans, sql` union all `)}) as asked
    where exists (select 1 from report_clients where project_id in (${sql.join(projectIds)}) and span = asked.span)`.execute(
    db,
  )
  const used = new Set(rows.map(({ span }) => span))
  const onlyUsed = (all: readonly string[]) => all.filter((span) => used.has(span))
  return { ...range, periods: { plus: onlyUsed(periods.plus), minus: onlyUsed(periods.minus) } }
}

/** The sums of some clients, of what is rolled up. */
export async function listClientSums(
  db: Db,
  range: ReportRange,
  clients: readonly ProjectClient[],
): Promise<Map<string, ClientSum>> {
  const sums = new Map<string, ClientSum>()
  for (const projectId of range.projectIds) {
    const ids = clients.filter(({ project_id }) => project_id === projectId).map(({ client_id }) => client_id)
    for (let at = 0; at < ids.length; at += MAX_LISTED_CLIENTS) {
      const isListed = sql<SqlBool>`client_id in (${sql.join(ids.slice(at, at + MAX_LISTED_CLIENTS))})`
      const rows = await sumClients(db, { ...range, projectIds: [projectId] }, isListed).execute()
      for (const row of rows) sums.set(row.client_id, row)
      await setImmediate()
    }
  }
  return sums
}

interface ProjectClient {
  project_id: string
  client_id: string
}

function sumClients(db: Db, { projectIds, periods }: ReportRange, isSelected: Expression<SqlBool>) {
  const isSubtracted = sql<SqlBool>`span in (${sql.join(nonEmptyList(periods.minus))})`
  const signed = (column: 'runs' | 'cost_micros') =>
    sumOf(
      db,
      periods.minus.length === 0
        ? sql.ref<number>(column)
        : sql<number>`case when ${isSubtracted} then -${sql.ref(column)} else ${sql.ref(column)} end`,
    )
  return db
    .selectFrom('report_clients')
    .select(['client_id', signed('runs').as('runs'), signed('cost_micros').as('cost_micros')])
    .where('project_id', 'in', projectIds)
    .where('span', 'in', nonEmptyList([...periods.plus, ...periods.minus]))
    .where(isSelected)
    .groupBy('client_id')
    .having(signed('runs'), '>', 0)
}

/** A range of client ids; null: up to the last. */
interface ClientRange {
  after: string
  upTo: string | null
}

const ALL_CLIENTS: ClientRange = { after: '', upTo: null }

/** Looked up by their ids: about 3 ms on SQLite. */
const MAX_LISTED_CLIENTS = 500
/** About 10 ms on SQLite. A client has at most one sum for each period of the report. */
const MAX_SUMS_PER_RANGE = 16_000

const clientsPerRange = ({ periods: { plus, minus } }: ReportRange) =>
  Math.max(MAX_LISTED_CLIENTS, Math.floor(MAX_SUMS_PER_RANGE / (plus.length + minus.length || 1)))

/** A limited number of clients of each year lie before the end. A client with runs has one sum for each year. */
async function findClientRangeEnd(db: Db, range: ReportRange, after: string): Promise<string | null> {
  const ends: string[] = []
  for (const year of new Set(range.periods.plus.map((span) => span.slice(0, 4)))) {
    const end = await db
      .selectFrom('report_clients')
      .select('client_id')
      .where('project_id', 'in', range.projectIds)
      .where('span', '=', year)
      .where('client_id', '>', after)
      .orderBy('client_id')
      .offset(clientsPerRange(range) - 1)
      .limit(1)
      .executeTakeFirst()
    if (end) ends.push(end.client_id)
  }
  return ends.toSorted()[0] ?? null
}

const isInClientRange = ({ after, upTo }: ClientRange) =>
  upTo === null ? sql<SqlBool>`client_id > ${after}` : sql<SqlBool>`client_id > ${after} and client_id <= ${upTo}`

export interface ApprovalSum {
  status: string
  wait_ms: number
  n: number
}

/** The counts of the approvals that are rolled up. */
export function listApprovalSums(db: Db, range: ReportRange): Promise<ApprovalSum[]> {
  return db
    .selectFrom(rolledUpApprovals(db, range).as('of_periods'))
    .select(['status', 'wait_ms', sumOfColumn(db, 'n')])
    .groupBy(['status', 'wait_ms'])
    .execute()
}

function rolledUpApprovals(db: Db, { projectIds, periods }: ReportRange) {
  const sums = db.selectFrom('report_approvals').where('project_id', 'in', projectIds)
  return sums
    .select(['status', 'wait_ms', 'n'])
    .where('span', 'in', periods.plus)
    .unionAll(
      sums.select(['status', 'wait_ms', negative('n').as('n')]).where('span', 'in', nonEmptyList(periods.minus)),
    )
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
const negative = (column: string) => sql<number>`-${sql.ref(column)}`
/** PostgreSQL does not accept an empty list, and no period has an empty name. */
const nonEmptyList = (names: readonly string[]) => (names.length === 0 ? [''] : names)
