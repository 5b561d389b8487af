import { sql } from 'kysely'
import { isPostgres } from '../dialect.ts'
import { classifyStoreError, isUnreachable } from '../errors.ts'
import type { Db } from '../store.ts'
import {
  createWeekPartitions,
  dayText,
  parseDayText,
  sortsIdsByBytes,
  taskIdPrefixAt,
  WEEK_MS,
  weekStart,
} from './event-weeks.ts'
import { retryWhileLocked, runWithShortLocks } from './short-locks.ts'

const DAY_MS = 24 * 60 * 60_000
const PREPARED = 'events_before_'

/**
 * Partitions `events` by week. The existing table becomes the first partition as it is: `prepareEventPartitions` has proved
 * that it has no event of a later week, so this reads no rows and takes milliseconds.
 */
export async function partitionEvents(db: Db): Promise<void> {
  if (!isPostgres(db)) return
  const now = await readDatabaseTime(db)
  const newest = await findNewestTaskId(db)
  const first = (await findPreparedWeek(db)) ?? weekStart(now)
  const isDivided = (newest === null || newest < taskIdPrefixAt(first)) && (await sortsIdsByBytes(db))
  const existing = isDivided ? `${PREPARED}${dayText(first)}` : 'events_default'
  const bounds = isDivided ? `for values from (minvalue) to ('${taskIdPrefixAt(first)}')` : 'default'
  await runWithShortLocks(db, [
    `alter table events rename to ${existing}`,
    `alter index events_pkey rename to ${existing}_pkey`,
    `create table events (like ${existing}) partition by range (task_id)`,
    'alter table events add primary key (task_id, seq)',
    `alter table events attach partition ${existing} ${bounds}`,
    `alter table ${existing} drop constraint if exists ${PREPARED}${dayText(first)}`,
  ])
  if (!isDivided) return
  await sql`create table events_default (like events including all)`.execute(db)
  await sql`alter table events attach partition events_default default`.execute(db)
  await createWeekPartitions(db, first, now)
}

/**
 * Before the migrations, and outside of their transactions: proves that the events of an existing installation belong to
 * tasks from before a Monday in one to two weeks. Reading all rows takes minutes for a large table, while other replicas
 * read and write it. An attempt that was interrupted is continued, or undone if its Monday is near. If the table could not
 * be partitioned it is undone, because an earlier version may go on.
 */
export const migrateWithEventPartitions = (db: Db, migrate: () => Promise<void>, onRetry: OnRetry): Promise<void> =>
  // An earlier version may write to an empty table before the migrations have their lock.
  retryWhileLocked(
    async () => ((await findNewestPlainTaskId(db)) === null ? migrate() : prepareAndMigrate(db, migrate, onRetry)),
    onRetry,
  )

/** Called each time a lock was not available. */
type OnRetry = (error: unknown) => void

async function prepareAndMigrate(db: Db, migrate: () => Promise<void>, onRetry: OnRetry): Promise<void> {
  // One replica at a time; the others find the table partitioned when they have the lock.
  await sql`select pg_advisory_lock(hashtext('svc'), hashtext('prepare event partitions'))`.execute(db)
  try {
    const newest = await findNewestPlainTaskId(db)
    if (newest !== null) await proveEarlierEvents(db, newest, onRetry)
    await retryWhileLocked(migrate, onRetry).catch(async (error: unknown) => {
      // After a lost connection another replica may have the lock, and need the constraint.
      const prepared = isUnreachable(classifyStoreError(error)) ? null : await findPreparedWeek(db)
      if (prepared !== null) await dropPreparedWeek(db, prepared, onRetry)
      throw error
    })
  } finally {
    await sql`select pg_advisory_unlock(hashtext('svc'), hashtext('prepare event partitions'))`.execute(db)
  }
}

async function proveEarlierEvents(db: Db, newest: string, onRetry: OnRetry): Promise<void> {
  const now = await readDatabaseTime(db)
  const prepared = await findPreparedWeek(db)
  const isUsable = prepared !== null && prepared >= now + DAY_MS
  if (prepared !== null && !isUsable) await dropPreparedWeek(db, prepared, onRetry)
  const week = isUsable ? prepared : weekStart(now) + 2 * WEEK_MS
  if (newest >= taskIdPrefixAt(week)) return
  const name = `${PREPARED}${dayText(week)}`
  if (!isUsable) {
    const check = `add constraint ${name} check (task_id < '${taskIdPrefixAt(week)}') not valid`
    await alterWithShortLock(db, check, onRetry)
  }
  try {
    await sql.raw(`alter table events validate constraint ${name}`).execute(db)
  } catch (error) {
    await dropPreparedWeek(db, week, onRetry)
    throw error
  }
}

const dropPreparedWeek = (db: Db, week: number, onRetry: OnRetry) =>
  alterWithShortLock(db, `drop constraint ${PREPARED}${dayText(week)}`, onRetry)

const alterWithShortLock = (db: Db, change: string, onRetry: OnRetry) =>
  retryWhileLocked(
    () => db.transaction().execute((transaction) => runWithShortLocks(transaction, [`alter table events ${change}`])),
    onRetry,
  )

/** The Monday for which an existing installation was prepared. */
async function findPreparedWeek(db: Db): Promise<number | null> {
  const { rows } = await sql<{ conname: string }>`
    select conname from pg_constraint
    where conrelid = to_regclass('events') and conname like ${`${PREPARED}%`}`.execute(db)
  return rows[0] ? parseDayText(rows[0].conname.slice(PREPARED.length)) : null
}

/** Null if the table is empty, does not exist yet, or is partitioned already. */
async function findNewestPlainTaskId(db: Db): Promise<string | null> {
  const { rows } = await sql`select oid from pg_class where oid = to_regclass('events') and relkind = 'r'`.execute(db)
  return rows.length > 0 ? findNewestTaskId(db) : null
}

async function findNewestTaskId(db: Db): Promise<string | null> {
  const { rows } = await sql<{ task_id: string }>`select task_id from events order by task_id desc limit 1`.execute(db)
  return rows[0]?.task_id ?? null
}

async function readDatabaseTime(db: Db): Promise<number> {
  const { rows } = await sql<{ ms: number }>`select extract(epoch from now())::float8 * 1000 as ms`.execute(db)
  return rows[0]?.ms ?? 0
}
