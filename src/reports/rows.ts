import { setImmediate } from 'node:timers/promises'
import { type Expression, type SqlBool, sql } from 'kysely'
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

export interface RunSum {
  /** Every run is in the sum of its day and in the sum of its wedge. */
  by: 'day' | 'wedge'
  name: string
  status: string
  runs: number
  cost_micros: number
}

/** The sums of the runs that are rolled up. */
export function listRunSums(db: Db, { projectId, from, to }: ReportRange): Promise<RunSum[]> {
  const ofDays = db.with('of_days', () =>
    db
      .selectFrom('report_runs')
      .select(['day', 'wedge', 'status', 'runs', 'cost_micros'])
      .where('project_id', '=', projectId)
      .where('day', '>=', from)
      .where('day', '<=', to),
  )
  const sums = [sumOf('runs').as('runs'), sumOf('cost_micros').as('cost_micros')] as const
  return ofDays
    .selectFrom('of_days')
    .select([sql<'day' | 'wedge'>`'day'`.as('by'), 'day as name', 'status', ...sums])
    .groupBy(['day', 'status'])
    .unionAll((eb) =>
      eb
        .selectFrom('of_days')
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

/**
 * The `limit` clients with the highest costs in each range of ids, of what is rolled up. They are read in ranges so that
 * many clients do not block a store that reads synchronously. Clients without runs in the report are left out: their
 * periods add and subtract to zero.
 */
export async function* readTopClientSums(db: Db, range: ReportRange, limit: number): AsyncGenerator<ClientSum[]> {
  for (let after: string | null = ''; after !== null; ) {
    const upTo: string | null = await findClientRangeEnd(db, range, after)
    yield await sumClients(db, range, isInClientRange({ after, upTo }))
      .orderBy('cost_micros', 'desc')
      .orderBy('client_id')
      .limit(limit)
      .execute()
    after = upTo
    await setImmediate()
  }
}

/** The sums of some clients, of what is rolled up. */
export async function listClientSums(
  db: Db,
  range: ReportRange,
  clientIds: readonly string[],
): Promise<Map<string, ClientSum>> {
  const sums = new Map<string, ClientSum>()
  for (let at = 0; at < clientIds.length; at += MAX_CLIENTS_PER_RANGE) {
    const ids = clientIds.slice(at, at + MAX_CLIENTS_PER_RANGE)
    const rows = await sumClients(db, range, sql<SqlBool>`client_id in (${sql.join(ids)})`).execute()
    for (const row of rows) sums.set(row.client_id, row)
    await setImmediate()
  }
  return sums
}

function sumClients(db: Db, { projectId, periods }: ReportRange, isSelected: Expression<SqlBool>) {
  const signed = (column: 'runs' | 'cost_micros') =>
    sql<number>`cast(sum(case when span in (${sql.join(nonEmptyList(periods.minus))})
      then -${sql.ref(column)} else ${sql.ref(column)} end) as bigint)`
  return db
    .selectFrom('report_clients')
    .select(['client_id', signed('runs').as('runs'), signed('cost_micros').as('cost_micros')])
    .where('project_id', '=', projectId)
    .where('span', 'in', [...periods.plus, ...periods.minus])
    .where(isSelected)
    .groupBy('client_id')
    .having(signed('runs'), '>', 0)
}

/** A range of client ids; null: up to the last. */
interface ClientRange {
  after: string
  upTo: string | null
}

const MAX_CLIENTS_PER_RANGE = 500
/** About 8 ms on SQLite. A client has one sum for each period of the report. */
const MAX_SUMS_PER_RANGE = 1_500

/** A limited number of clients of each year lie before the end. A client with runs has one sum for each year. */
async function findClientRangeEnd(db: Db, range: ReportRange, after: string): Promise<string | null> {
  const { projectId, from, to, periods } = range
  const periodCount = periods.plus.length + periods.minus.length
  const size = Math.max(MAX_CLIENTS_PER_RANGE, Math.floor(MAX_SUMS_PER_RANGE / periodCount))
  const ends: string[] = []
  for (const year of new Set([from.slice(0, 4), to.slice(0, 4)])) {
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
