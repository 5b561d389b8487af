import { setImmediate } from 'node:timers/promises'
import { type SqlBool, sql } from 'kysely'
import { isPostgres } from '../store/dialect.ts'
import { isInList, type ListArgument, tableOf, toListArgument, toRowsArgument } from '../store/list-argument.ts'
import { type ArgumentOf, prepareQuery } from '../store/prepared-query.ts'
import { prepareManyRows } from '../store/prepared-rows.ts'
import type { Db } from '../store/store.ts'
import { type ReportRange, signedSum } from './rows.ts'

export interface ClientSum {
  client_id: string
  runs: number
  cost_micros: number
}

/** The response lists so many clients. */
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
      await setImmediate()
    }
  }
}

/** A range of client ids. */
interface ClientRange {
  after: string
  upTo: string
}

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
  const asked = toRowsArgument([...periods.plus, ...periods.minus].map((span) => [span]))
  const rows = await listUsedPeriods(db, { projectIds: toListArgument(db, projectIds), asked })
  const used = new Set(rows.map(({ span }) => span))
  const onlyUsed = (all: readonly string[]) => all.filter((span) => used.has(span))
  return { ...range, periods: { plus: onlyUsed(periods.plus), minus: onlyUsed(periods.minus) } }
}

const listUsedPeriods = prepareQuery<{ projectIds: ListArgument; asked: string }, { span: string }>((db, arg) => {
  // With `exists` PostgreSQL may read all sums, with a limit it looks each period up.
  const hasSums = sql<SqlBool>`(select 1 from report_clients
    where ${isInList(db, 'project_id', arg('projectIds'))} and span = asked.span limit 1) is not null`
  return db
    .selectFrom(tableOf(db, arg('asked'), ['span']).as('asked'))
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
  const spans = toListArgument(db, [...periods.plus, ...periods.minus])
  const minus = toListArgument(db, periods.minus)
  for (let at = 0; at < clients.length; at += MAX_LISTED_CLIENTS) {
    const some = clients.slice(at, at + MAX_LISTED_CLIENTS)
    const asked = toRowsArgument(some.map(({ project_id, client_id }) => [project_id, client_id]))
    for (const sum of await readClientSums(db, { asked, spans, minus })) sums.set(sum.client_id, sum)
    await setImmediate()
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

/** Looked up by their ids: about 3 ms on SQLite. */
const MAX_LISTED_CLIENTS = 500
/** About 10 ms on SQLite. */
const MAX_SUMS_PER_RANGE = 16_000

/** So many sums of each period lie before the end of the range that it has a limited number of them. */
async function findRangeEnd(db: Db, spans: readonly string[], projectId: string, after: string): Promise<string> {
  const skipped = Math.max(MAX_LISTED_CLIENTS, Math.floor(MAX_SUMS_PER_RANGE / spans.length)) - 1
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
