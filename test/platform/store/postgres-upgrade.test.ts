import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createId } from '../../../src/platform/base/ids.ts'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import type { Db, Store } from '../../../src/platform/store/store.ts'
import { createDatabase } from '../../postgres.ts'
import { undoPartitions } from './undo-partitions.ts'

const TASK_ID = createId('task', Date.now(), (bytes) => new Uint8Array(bytes))

interface EarlierVersion {
  url: string
  earlier: Store
  /** A session that holds locks. */
  other: Client
  /** What an upgrade has to create. */
  indexes: string[]
}

/** A replica of the version before partitions. */
async function openEarlierVersion(): Promise<EarlierVersion> {
  const url = await createDatabase()
  const earlier = await openPostgresStore(url, () => {})
  const other = new Client({ connectionString: url })
  await other.connect()
  onTestFinished(async () => {
    await other.end()
    await earlier.close()
  })
  const indexes = await listIndexes(earlier.db)
  await undoPartitions(earlier, TASK_ID)
  return { url, earlier, other, indexes }
}

async function openUpgraded(url: string, warn = (_message: string, _error: unknown) => {}): Promise<Store> {
  const store = await openPostgresStore(url, warn)
  onTestFinished(() => store.close())
  return store
}

/** Lets the role of the service have a setting, in this database only. */
async function setForDatabase(client: Client, setting: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name')
  await client.query(`alter database "${rows[0]?.name}" set ${setting}`)
}

/** Runs code of the test before each statement of a kind. */
const onCommand = (client: Client, tag: string, body: string) =>
  client.query(`create function on_command() returns event_trigger language plpgsql as $$ begin ${body} end $$;
    create event trigger on_command on ddl_command_start when tag in ('${tag}') execute function on_command()`)

async function listIndexes(db: Db): Promise<string[]> {
  const { rows } = await sql<{ indexdef: string }>`
    select indexdef from pg_indexes where schemaname = 'public' and tablename not like 'events%' order by 1`.execute(db)
  return rows.map(({ indexdef }) => indexdef)
}

test.each(['webhook_deliveries_failed', 'threads_unread_activity', 'approvals_edited'])(
  'while an upgrade builds the index %s, replicas of the earlier version write events and read all tables',
  async (index) => {
    const { url, earlier, other, indexes } = await openEarlierVersion()
    const wait = `if current_query() like '%${index} %' then perform pg_advisory_xact_lock_shared(1); end if;`
    await onCommand(other, 'CREATE INDEX', wait)
    await other.query('begin; select pg_advisory_xact_lock(1)')
    const upgrade = openUpgraded(url)
    const isBuilding = async () =>
      (
        await sql`select 1 from pg_locks where mode = 'ShareLock' and locktype = 'advisory' and not granted`.execute(
          earlier.db,
        )
      ).rows.length
    await expect.poll(isBuilding, { interval: 5, timeout: 10_000 }).toBe(1)
    await earlier.transact(async (db) => {
      await sql`set local lock_timeout = 1000`.execute(db)
      await sql`insert into events values (${TASK_ID}, 6, 'progress', 'then', '{}')`.execute(db)
      for (const table of ['events', 'approvals', 'tasks', 'cases', 'records', 'threads', 'webhook_deliveries'])
        await sql`select 1 from ${sql.table(table)} limit 1`.execute(db)
    })
    await other.query('rollback')
    expect(await listIndexes((await upgrade).db)).toEqual(indexes)
  },
)

test('an upgrade reports once that it waits for a lock', async () => {
  const { url, other } = await openEarlierVersion()
  await other.query('begin; lock table events in access share mode')
  const messages: string[] = []
  const upgrade = openUpgraded(url, (message) => void messages.push(message))
  await expect.poll(() => messages.length).toBe(1)
  // Longer than several attempts take.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await other.query('rollback')
  await upgrade
  expect(messages).toEqual(['the migrations wait for a lock, for example of a dump'])
})

test('an upgrade fails if the server cancels the building of an index', async () => {
  const { url, other } = await openEarlierVersion()
  await setForDatabase(other, 'statement_timeout = 500')
  await onCommand(other, 'CREATE INDEX', 'perform pg_sleep(2);')
  await expect(openPostgresStore(url, () => {})).rejects.toThrow('canceling statement due to statement timeout')
})

test('an upgrade builds indexes with the lock timeout that the operator has set', async () => {
  const { url, other } = await openEarlierVersion()
  await setForDatabase(other, "lock_timeout = '7s'")
  await other.query('create table lock_timeouts (value text)')
  await onCommand(other, 'CREATE INDEX', "insert into lock_timeouts values (current_setting('lock_timeout'));")
  await openUpgraded(url)
  expect((await other.query('select distinct value from lock_timeouts')).rows).toEqual([{ value: '7s' }])
})
