import { type SqlBool, sql } from 'kysely'
import { isPostgres } from '../../platform/store/dialect.ts'
import {
  isInList,
  type ListArgument,
  tableOf,
  toListArgument,
  toRowsArgument,
} from '../../platform/store/list-argument.ts'
import { type ArgumentOf, prepareQuery } from '../../platform/store/prepared-query.ts'
import { prepareManyRows } from '../../platform/store/prepared-rows.ts'
import type { Db } from '../../platform/store/store.ts'
import { type ReportRange, signedSum } from './rows.ts'

export interface ClientSum {
  client_id: string
  runs: number
  cost_micros: number
}

/** The response lists at most this many clients. */
export const MAX_CLIENTS_SHOWN = 100

/**
 * The clients with the highest costs in each part of the range, of what is rolled up. A store that reads synchronously reads
 * them by project and in ranges of ids, so that many clients do not block it. Clients without runs in the report are left
 * out: their periods add and subtract to zero.
 */
export async function* readTopClientSums(db: Db, { projectIds, periods }: ReportRange): AsyncGenerator<ClientSum[]> {
  const spans = [...periods.plus, ...periods.minus]
  if (spans.length === 0) return
  // A client has at most one row for each period.
  const readTop = spans.length > 1 ? readTopOfPeriods : readTopOfOnePeriod
  const read = (ids: readonly string[], clients: ClientRange) =>
    readTop(db, {
      projectIds: toListArgument(db, ids),
      spans: toListArgument(db, spans),
      minus: toListArgument(db, periods.minus),
      ...clients,
    })
  if (isPostgres(db)) {
    yield await read(projectIds, ALL_CLIENTS)
    return
  }
  for (const projectId of projectIds) {
    for (let after = ''; after !== ALL_CLIENTS.upTo; ) {
      const upTo = await findRangeEnd(db, spans, projectId, after)
      yield await read([projectId], { after, upTo })
      after = upTo
    }
  }
}

/** A range of client ids. */
interface ClientRange {
  after: string
  upTo: string
}

/** `~` sorts after all characters of ids. */
const ALL_CLIENTS: ClientRange = { after: '', upTo: '~' }

interface ClientSelection extends ClientRange {
  projectIds: ListArgument
  spans: ListArgument
  minus: ListArgument
}

const COLUMNS = ['client_id', 'runs', 'cost_micros'] as const

const readTopOfOnePeriod = prepareManyRows<ClientSelection, ClientSum>(COLUMNS, (db, arg) =>
  selectedSums(db, arg).select(COLUMNS).orderBy('cost_micros', 'desc').orderBy('client_id').limit(MAX_CLIENTS_SHOWN),
)

const readTopOfPeriods = prepareManyRows<ClientSelection, ClientSum>(COLUMNS, (db, arg) => {
  const runs = signedSum(db, 'runs', arg('minus'))
  return selectedSums(db, arg)
    .select(['client_id', runs.as('runs'), signedSum(db, 'cost_micros', arg('minus')).as('cost_micros')])
    .groupBy('client_id')
    .having(runs, '>', 0)
    .orderBy('cost_micros', 'desc')
    .orderBy('client_id')
    .limit(MAX_CLIENTS_SHOWN)
})

function selectedSums(db: Db, arg: ArgumentOf<ClientSelection>) {
  const sums = db
    .selectFrom('report_clients')
    .where(isInList(db, 'project_id', arg('projectIds')))
    .where(isInList(db, 'span', arg('spans')))
  return isPostgres(db) ? sums : sums.where('client_id', '>', arg('after')).where('client_id', '<=', arg('upTo'))
}

/** The range without the periods in which no client has runs: the sums of all clients need fewer comparisons. */
export async function withClientPeriods(db: Db, range: ReportRange): Promise<ReportRange> {
  const { projectIds, periods } = range
  const spans = [...periods.plus, ...periods.minus]
  const asked = toRowsArgument(projectIds.flatMap((projectId) => spans.map((span) => [projectId, span])))
  const used = new Set((await listUsedPeriods(db, { asked })).map(({ span }) => span))
  const onlyUsed = (all: readonly string[]) => all.filter((span) => used.has(span))
  return { ...range, periods: { plus: onlyUsed(periods.plus), minus: onlyUsed(periods.minus) } }
}

const listUsedPeriods = prepareQuery<{ asked: string }, { span: string }>((db, arg) => {
  // With `exists` or without an order PostgreSQL may read all sums for a period that has none.
  const hasSums = sql<SqlBool>`(select client_id from report_clients where project_id = asked.project_id
    and span = asked.span order by client_id limit 1) is not null`
  return db
    .selectFrom(tableOf(db, arg('asked'), ['project_id', 'span']).as('asked'))
    .select('asked.span')
    .where(hasSums)
})

interface ProjectClient {
  project_id: string
  client_id: string
}

/** The sums of some clients, of what is rolled up. */
export async function listClientSums(
  db: Db,
  { periods }: ReportRange,
  clients: readonly ProjectClient[],
): Promise<Map<string, ClientSum>> {
  const sums = new Map<string, ClientSum>()
  const all = [...periods.plus, ...periods.minus]
  const [spans, minus] = [toListArgument(db, all), toListArgument(db, periods.minus)]
  const size = clientsPerStatement(all)
  for (let at = 0; at < clients.length; at += size) {
    const some = clients.slice(at, at + size)
    const asked = toRowsArgument(some.map(({ project_id, client_id }) => [project_id, client_id]))
    for (const sum of await readClientSums(db, { asked, spans, minus })) sums.set(sum.client_id, sum)
  }
  return sums
}

/** Each client is looked up. For a plain join PostgreSQL may read the sums of all clients. */
const readClientSums = prepareManyRows<{ asked: string; spans: ListArgument; minus: ListArgument }, ClientSum>(
  COLUMNS,
  (db, arg) => {
    const ofPeriods = (['runs', 'cost_micros'] as const).map((name) => signedSum(db, name, arg('minus')).as(name))
    const asked = db.selectFrom(tableOf(db, arg('asked'), ['project_id', 'client_id']).as('asked'))
    const isSelected = sql<SqlBool>`report_clients.project_id = asked.project_id
      and report_clients.client_id = asked.client_id and ${isInList(db, 'report_clients.span', arg('spans'))}`
    if (!isPostgres(db)) {
      // SQLite keeps the order of a cross join.
      const joined = asked.crossJoin('report_clients').where(isSelected)
      return joined
        .select(['asked.client_id', ...ofPeriods])
        .groupBy('asked.client_id')
        .$castTo<ClientSum>()
    }
    const sums = db.selectFrom('report_clients').select(ofPeriods)
    return asked
      .innerJoinLateral(sums.where(isSelected).as('sums'), (join) => join.onTrue())
      .select(['asked.client_id', 'sums.runs', 'sums.cost_micros'])
      .where('sums.runs', 'is not', null)
  },
)

/** About 10 ms on SQLite. */
const MAX_SUMS_PER_STATEMENT = 12_000

/** A client has at most one sum for each period. */
const clientsPerStatement = (spans: readonly string[]) => Math.ceil(MAX_SUMS_PER_STATEMENT / (spans.length || 1))

/** The last client of the next range, which has a limited number of sums of each period. */
async function findRangeEnd(db: Db, spans: readonly string[], projectId: string, after: string): Promise<string> {
  const skipped = clientsPerStatement(spans) - 1
  const [end] = await readRangeEnd(db, {
    projectId,
    after,
    skipped,
    spans: toRowsArgument(spans.map((span) => [span])),
  })
  return end?.client_id ?? ALL_CLIENTS.upTo
}

const readRangeEnd = prepareQuery<
  { projectId: string; spans: string; after: string; skipped: number },
  { client_id: string | null }
>((db, arg) => {
  const end = sql`(select client_id from report_clients where project_id = ${arg('projectId')} and span = asked.span
    and client_id > ${arg('after')} order by client_id limit 1 offset ${arg('skipped')})`
  return db
    .selectFrom(tableOf(db, arg('spans'), ['span']).as('asked'))
    .select(sql<string | null>`min(${end})`.as('client_id'))
})
