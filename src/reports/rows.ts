import { setImmediate } from 'node:timers/promises'
import { type Expression, type SqlBool, sql } from 'kysely'
import { isPostgres } from '../store/dialect.ts'
import type { Db } from '../store/store.ts'
import type { PeriodSum } from './periods.ts'

export interface ReportRange {
  projectId: string
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

/** The sums by day of the runs that are rolled up. The key of the table is in this order, so nothing is sorted. */
export function listDaySums(db: Db, range: ReportRange): Promise<DaySum[]> {
  const succeeded = sql<number>`cast(sum(case when status = 'succeeded' then runs else 0 end) as bigint)`
  return runSumsIn(db, range)
    .select(['day', sumOf('runs').as('runs'), succeeded.as('succeeded'), sumOf('cost_micros').as('cost_micros')])
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
    .select(['wedge', 'status', sumOf('runs').as('runs'), sumOf('cost_micros').as('cost_micros')])
    .groupBy(['wedge', 'status'])
    .execute()
}

const runSumsIn = (db: Db, { projectId, from, to }: ReportRange) =>
  db.selectFrom('report_runs').where('project_id', '=', projectId).where('day', '>=', from).where('day', '<=', to)

export interface ClientSum {
  client_id: string
  runs: number
  cost_micros: number
}

/**
 * The `limit` clients with the highest costs in each range of ids, of what is rolled up. A store that reads synchronously
 * reads them in ranges, so that many clients do not block it. Clients without runs in the report are left out: their
 * periods add and subtract to zero.
 */
export async function* readTopClientSums(db: Db, range: ReportRange, limit: number): AsyncGenerator<ClientSum[]> {
  const size = isPostgres(db) ? null : clientsPerRange(range)
  for (let after: string | null = ''; after !== null; ) {
    const upTo: string | null = size === null ? null : await findClientRangeEnd(db, range, after, size)
    yield await sumClients(db, range, isInClientRange({ after, upTo }))
      .orderBy('cost_micros', 'desc')
      .orderBy('client_id')
      .limit(limit)
      .execute()
    after = upTo
    await setImmediate()
  }
}

/** The range without the periods in which no client has runs: the sums of all clients need fewer comparisons. */
export async function withClientPeriods(db: Db, range: ReportRange): Promise<ReportRange> {
  const { projectId, periods } = range
  const spans = [...periods.plus, ...periods.minus].map((span) => sql`select ${span} as span`)
  const { rows } = await sql<{ span: string }>`select span from (${sql.join(spans, sql` union all `)}) as asked
    where exists (select 1 from report_clients where project_id = ${projectId} and span = asked.span)`.execute(db)
  const used = new Set(rows.map(({ span }) => span))
  const onlyUsed = (all: readonly string[]) => all.filter((span) => used.has(span))
  return { ...range, periods: { plus: onlyUsed(periods.plus), minus: onlyUsed(periods.minus) } }
}

/** The sums of some clients, of what is rolled up. */
export async function listClientSums(
  db: Db,
  range: ReportRange,
  clientIds: readonly string[],
): Promise<Map<string, ClientSum>> {
  const sums = new Map<string, ClientSum>()
  for (let at = 0; at < clientIds.length; at += MAX_LISTED_CLIENTS) {
    const ids = clientIds.slice(at, at + MAX_LISTED_CLIENTS)
    const rows = await sumClients(db, range, sql<SqlBool>`client_id in (${sql.join(ids)})`).execute()
    for (const row of rows) sums.set(row.client_id, row)
    await setImmediate()
  }
  return sums
}

function sumClients(db: Db, { projectId, periods }: ReportRange, isSelected: Expression<SqlBool>) {
  const isSubtracted = sql<SqlBool>`span in (${sql.join(nonEmptyList(periods.minus))})`
  const signed = (column: 'runs' | 'cost_micros') =>
    periods.minus.length === 0
      ? sumOf(column)
      : sql<number>`cast(sum(case when ${isSubtracted} then -${sql.ref(column)} else ${sql.ref(column)} end) as bigint)`
  return db
    .selectFrom('report_clients')
    .select(['client_id', signed('runs').as('runs'), signed('cost_micros').as('cost_micros')])
    .where('project_id', '=', projectId)
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

/** Looked up by their ids: about 3 ms on SQLite. */
const MAX_LISTED_CLIENTS = 500
/** About 10 ms on SQLite. A client has at most one sum for each period of the report. */
const MAX_SUMS_PER_RANGE = 16_000

const clientsPerRange = ({ periods: { plus, minus } }: ReportRange) =>
  Math.max(MAX_LISTED_CLIENTS, Math.floor(MAX_SUMS_PER_RANGE / (plus.length + minus.length || 1)))

/** A limited number of clients of each year lie before the end. A client with runs has one sum for each year. */
async function findClientRangeEnd(
  db: Db,
  { projectId, periods }: ReportRange,
  after: string,
  size: number,
): Promise<string | null> {
  const ends: string[] = []
  for (const year of new Set(periods.plus.map((span) => span.slice(0, 4)))) {
    const end = await db
      .selectFrom('report_clients')
      .select('client_id')
      .where('project_id', '=', projectId)
      .where('span', '=', year)
      .where('client_id', '>', after)
      .orderBy('client_id')
      .offset(size - 1)
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
    .select(['status', 'wait_ms', sumOf('n').as('n')])
    .groupBy(['status', 'wait_ms'])
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

/** The sum of integers is a decimal in PostgreSQL, which the driver returns as text. */
const sumOf = (column: string) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`
const negative = (column: string) => sql<number>`-${sql.ref(column)}`
/** PostgreSQL does not accept an empty list, and no period has an empty name. */
const nonEmptyList = (names: readonly string[]) => (names.length === 0 ? [''] : names)
