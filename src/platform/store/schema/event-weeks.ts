import { sql } from 'kysely'
import { createId } from '../../base/ids.ts'
import type { Db } from '../store.ts'

/**
 * The partitions of `events` on PostgreSQL. Ids of tasks begin with the time of their creation, so a range of ids is a
 * week: `events_20261116` has all events of the tasks that were created in the week from that Monday (UTC) on.
 * `events_before_…` has those of earlier tasks, and `events_default` takes what no other partition does.
 */
export const WEEK_MS = 7 * 24 * 60 * 60_000
const FIRST_MONDAY_MS = Date.UTC(1970, 0, 5)
/** A service that is down for less finds the partitions of its tasks when it starts again. */
const WEEKS_AHEAD = 4

export const weekStart = (ms: number): number =>
  FIRST_MONDAY_MS + Math.floor((ms - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS

/** The start of the ids of tasks that were created at this time. */
export const taskIdPrefixAt = (ms: number): string =>
  createId('task', ms, (bytes) => new Uint8Array(bytes)).slice(0, 15)

export const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')

export const parseDayText = (text: string): number =>
  Date.parse(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}`)

/**
 * Creates the partitions from a week on, up to some weeks after now. Attaching them lets others read and write. A week of
 * which the default partition has events stays there: a clock may have been wrong.
 */
export async function createWeekPartitions(db: Db, from: number, now: number): Promise<void> {
  for (let week = from; week < now + WEEKS_AHEAD * WEEK_MS; week += WEEK_MS) {
    const table = `events_${dayText(week)}`
    const [from, to] = [taskIdPrefixAt(week), taskIdPrefixAt(week + WEEK_MS)]
    const { rows } = await sql`
      select task_id from events_default where task_id >= ${from} and task_id < ${to} limit 1`.execute(db)
    if (rows.length > 0) continue
    const bounds = `from ('${from}') to ('${to}')`
    await sql.raw(`create table ${table} (like events including all)`).execute(db)
    await sql.raw(`alter table events attach partition ${table} for values ${bounds}`).execute(db)
  }
}

/**
 * Whether the database sorts ids like JavaScript does. Some languages have another order of letters, and some treat a pair
 * of letters as one.
 */
export async function sortsIdsByBytes(db: Db): Promise<boolean> {
  const { rows } = await sql<{ is_ordered: boolean }>`
    select bool_and(pair < next) as is_ordered from (
      select pair, lead(pair) over (order by pair collate "C") as next from (
        select 'task_' || a || b as pair
        from regexp_split_to_table('0123456789abcdefghjkmnpqrstvwxyz', '') as a,
          regexp_split_to_table('0123456789abcdefghjkmnpqrstvwxyz', '') as b) as pairs) as neighbours
    where next is not null`.execute(db)
  return rows[0]?.is_ordered ?? false
}
