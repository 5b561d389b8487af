import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { tryExclusiveWork } from '../dialect.ts'
import {
  createWeekPartitions,
  parseDayText,
  sortsIdsByBytes,
  taskIdPrefixAt,
  WEEK_MS,
  weekStart,
} from '../schema/event-weeks.ts'
import type { Db, EventPartitions } from '../store.ts'
import type { Tables } from '../tables.ts'
import type { DatabaseServers } from './primary-client.ts'

/** A partition of `events`, with the range of the ids of its tasks. */
interface Partition {
  table: string
  from: string
  to: string
  /** When its week ends. */
  endMs: number
  isWeek: boolean
  /** Whether it is for one week, and retention has not removed its logs yet. */
  isWaiting: boolean
}

const WORK = 'event partitions'
/** A comment on the table, so that it is in every dump. */
const PRUNED = 'retention has removed the logs of this week'
/** Other statements on the table wait behind the one that waits for the lock. */
const LOCK_TIMEOUT_MS = 200
const MIN_WEEKS_AHEAD = 3
const LOCK_PAUSE_MS = 60_000
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * The partitions of `events`, of which this replica has a list in memory. A partition that is missing in the list is found
 * by the server, which takes 0.1 ms longer.
 */
export class PostgresEventPartitions implements EventPartitions {
  /** The newest first, because most statements are about running tasks. */
  #partitions: Partition[] = []
  readonly #servers: DatabaseServers
  readonly #sessionName: string
  /** A dump holds the locks of all tables for a long time. */
  #pausedUntil = 0

  constructor(servers: DatabaseServers, sessionName: string) {
    this.#servers = servers
    this.#sessionName = sessionName
  }

  readonly tableOf = (taskId: string): string => {
    for (const { table, from, to } of this.#partitions) if (taskId >= from && taskId < to) return table
    return 'events'
  }

  async load(db: Db): Promise<void> {
    this.#partitions = (await sortsIdsByBytes(db)) ? await listPartitions(db) : []
  }

  async createAhead(db: Db, now: number): Promise<void> {
    // Other replicas create and drop partitions.
    await this.load(db)
    const endMs = this.#partitions[0]?.endMs ?? Infinity
    if (endMs >= now + MIN_WEEKS_AHEAD * WEEK_MS) return
    await this.#maintain(async (db) => {
      const [newest] = await listPartitions(db)
      if (newest) await createWeekPartitions(db, Math.max(newest.endMs, weekStart(now)), now)
    })
  }

  cutoff(before: number): number {
    return weekStart(before)
  }

  async lockWaiting(db: Db, before: number): Promise<(taskId: string) => boolean> {
    await sql`select pg_advisory_xact_lock_shared(hashtext('svc'), hashtext(${WORK}))`.execute(db)
    const waiting = (await listPartitions(db)).filter(({ isWaiting, endMs }) => isWaiting && endMs <= before)
    return (taskId) => waiting.some(({ from, to }) => taskId >= from && taskId < to)
  }

  async prune(before: number): Promise<void> {
    const isDue = ({ isWaiting, endMs }: Partition) => isWaiting && endMs <= before
    if (!this.#partitions.some(isDue)) return
    await this.#maintain(async (db) => {
      const due = (await listPartitions(db)).findLast(isDue)
      if (due) await removeLogs(db, due.table)
    })
  }

  async dropEmpty(before: number): Promise<void> {
    const isDue = ({ isWeek, endMs }: Partition) => isWeek && endMs <= before
    if (!this.#partitions.some(isDue)) return
    await this.#maintain(async (db) => {
      for (const partition of (await listPartitions(db)).filter(isDue))
        if (!(await hasTasks(db, partition))) await sql`drop table ${sql.table(partition.table)}`.execute(db)
    })
  }

  /** One replica at a time. On a connection of its own, because copying the events that are kept can take a minute. */
  async #maintain(work: (db: Db) => Promise<void>): Promise<void> {
    if (performance.now() < this.#pausedUntil) return
    const pool = this.#servers.openSingleConnection(this.#sessionName)
    const db: Db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    try {
      await db.transaction().execute(async (transaction) => {
        await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(transaction)
        if (await tryExclusiveWork(transaction, WORK)) await work(transaction)
      })
      await this.load(db)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error
      this.#pausedUntil = performance.now() + LOCK_PAUSE_MS
    } finally {
      await db.destroy()
    }
  }
}

async function listPartitions(db: Db): Promise<Partition[]> {
  const { rows } = await sql<{ table: string; comment: string | null }>`
    select relname as table, obj_description(pg_class.oid, 'pg_class') as comment
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = to_regclass('events')`.execute(db)
  return rows.flatMap(({ table, comment }) => toPartition(table, comment)).toSorted((a, b) => b.endMs - a.endMs)
}

function toPartition(table: string, comment: string | null): Partition[] {
  const [, before, day = ''] = /^events_(before_)?(\d{8})$/.exec(table) ?? []
  const start = parseDayText(day)
  if (Number.isNaN(start)) return []
  if (before) return [{ table, from: '', to: taskIdPrefixAt(start), endMs: start, isWeek: false, isWaiting: false }]
  const endMs = start + WEEK_MS
  const isWaiting = comment !== PRUNED
  return [{ table, from: taskIdPrefixAt(start), to: taskIdPrefixAt(endMs), endMs, isWeek: true, isWaiting }]
}

/**
 * Replaces the events of a week by those that are kept: the ends of the logs that retention has removed, and the logs of
 * tasks that it has not. Writers of the logs of this week wait meanwhile, and readers while these events are written back.
 */
async function removeLogs(db: Db, table: string): Promise<void> {
  await requireNoReader(db, table)
  await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(db)
  await sql`create temporary table kept_events on commit drop as
    with ends as (select task_id, max(seq) as seq from ${sql.table(table)} where type = 'task.finished' group by task_id)
    select events.* from ${sql.table(table)} as events
      join tasks on tasks.id = events.task_id left join ends on ends.task_id = events.task_id
    where tasks.log_pruned_at is null or events.seq >= coalesce(ends.seq, 0)`.execute(db)
  await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(db)
  await sql`truncate ${sql.table(table)}`.execute(db)
  await sql`insert into ${sql.table(table)} select * from kept_events order by task_id, seq`.execute(db)
  await sql.raw(`comment on table ${table} is '${PRUNED}'`).execute(db)
}

/** Fails if a dump reads the table, before the events that are kept are read in vain. The lock ends with the savepoint. */
async function requireNoReader(db: Db, table: string): Promise<void> {
  await sql`savepoint without_lock`.execute(db)
  await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(db)
  await sql`rollback to savepoint without_lock`.execute(db)
}

async function hasTasks(db: Db, { from, to }: Partition): Promise<boolean> {
  const tasks = db.selectFrom('tasks').select('id').where('id', '>=', from).where('id', '<', to)
  return (await tasks.limit(1).execute()).length > 0
}
