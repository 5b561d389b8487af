import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createId } from '../../../src/platform/base/ids.ts'
import type { Ctx } from '../../../src/platform/ctx/ctx.ts'
import { deleteOldTasks } from '../../../src/automation/retention/delete-old-tasks.ts'
import {
  deleteEventsBefore,
  findFinishedEventNumber,
  findFirstEventNumber,
  listLastStepEvents,
  listStepEventsUntil,
  sumEventBytesAfter,
  sumEventBytesBefore,
} from '../../../src/work/events/rows.ts'
import { rollUpReports } from '../../../src/insight/analytics/rollup.ts'
import { PostgresEventPartitions } from '../../../src/platform/store/postgres/event-partitions.ts'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { DatabaseServers } from '../../../src/platform/store/postgres/primary-client.ts'
import type { Db, Store } from '../../../src/platform/store/store.ts'
import { pruneOldLogs } from '../../../src/work/tasks/retention.ts'
import { type TestApp, testApp } from '../../app.ts'
import type { ApiResponse } from '../../http.ts'
import { createDatabase } from '../../postgres.ts'
import { undoPartitions } from '../../platform/store/undo-partitions.ts'
import {
  appendAsRun,
  cancelTask,
  NO_RATE_LIMIT,
  progressEvents,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../tasks/scripted-agent.ts'
import { numbersUpTo } from './stream-reader.ts'

const DAY_MS = 24 * 60 * 60_000
const LINES = [{ event: 'progress', data: { text: 'on it' } }, { output: { a: 1 } }]

async function countByPartition(db: Db): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select tableoid::regclass::text as name, count(*)::int as count from events group by 1`.execute(db)
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

async function listTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}

/** A service whose clock shows a time of next week, for which there is a partition. */
async function openApp(): Promise<TestApp> {
  const env = { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, SVC_RETENTION_DAYS: '30', SVC_TASK_RETENTION_DAYS: '60' }
  const app = await testApp({ store: 'postgres', env })
  app.clock.set(Date.now() + 7 * DAY_MS)
  return app
}

/** A session of its own, to hold locks. */
async function openClient(app: TestApp): Promise<Client> {
  const client = new Client({ connectionString: app.ctx.config.databaseUrl ?? '' })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const ctxLater = (app: TestApp, days: number): Ctx => {
  const now = app.clock.now() + days * DAY_MS
  return { ...app.ctx, world: { ...app.ctx.world, clock: { now: () => now, after: () => () => {} } } }
}

test('the logs of a week are removed at once when the week is past retention; ends and logs of open tasks stay', async () => {
  const app = await openApp()
  const running = await startScriptedTask(app)
  await appendAsRun(app, running, progressEvents(3))
  const { id, last_event_id }: ApiResponse['body'] = await app.finished((await app.createTask({ input: LINES })).id)
  const [table = '', ...others] = Object.keys(await countByPartition(app.ctx.db))
  expect(table).toMatch(/^events_\d{8}$/)
  expect(others).toEqual([])

  await pruneOldLogs(ctxLater(app, 29), 30)
  expect((await app.events(id)).map((frame) => Number(frame.id))).toEqual(numbersUpTo(last_event_id))
  for (let sweep = 0; sweep < 2; sweep++) await pruneOldLogs(ctxLater(app, 38), 30)
  expect((await app.events(id)).map((frame) => frame.event)).toEqual(['log.pruned', 'task.finished'])
  // One end, and `task.created` with three events of the open task.
  expect(await countByPartition(app.ctx.db)).toEqual({ [table]: 5 })
  expect((await app.call('POST', `/v1/tasks/${id}/feedback`, { rating: 5 })).status).toBe(201)

  // The task that was open then loses its log later, row by row.
  await appendAsRun(app, running, progressEvents(1))
  await cancelTask(app, running)
  const ended: ApiResponse['body'] = await app.finished(running)
  expect((await app.events(running)).map((frame) => Number(frame.id))).toEqual(numbersUpTo(ended.last_event_id))
  await pruneOldLogs(ctxLater(app, 90), 30)
  expect((await app.events(running)).map((frame) => frame.event)).toEqual(['log.pruned', 'task.finished'])
  expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
})

test('while the logs of another week are being removed, the log of a task is read and written', async () => {
  const app = await openApp()
  const [lastWeek = ''] = await listTables(app.ctx.db)
  const task_id = await startScriptedTask(app)
  const client = await openClient(app)
  await client.query(`begin; lock table ${lastWeek} in access exclusive mode`)
  const where = { task_id, seq: 1 }
  // From the sixth time on, the server may use a plan for any task.
  for (let n = 1; n <= 10; n++) {
    await appendAsRun(app, task_id, progressEvents(1))
    expect(await app.ctx.store.transact((db) => findFirstEventNumber(db, where))).toEqual([{ seq: 1 }])
    expect(await findFirstEventNumber(app.ctx.db, where)).toEqual([{ seq: 1 }])
    expect(await findFinishedEventNumber(app.ctx.db, where)).toEqual([])
    expect(await sumEventBytesBefore(app.ctx.db, where)).toEqual([{ bytes: 0 }])
    expect((await sumEventBytesAfter(app.ctx.db, where))[0]?.bytes).toBeGreaterThan(0)
    expect(await listLastStepEvents(app.ctx.db, where)).toEqual([])
    expect(await listStepEventsUntil(app.ctx.db, { task_id, until: '9999' })).toHaveLength(n)
    await app.ctx.store.transact((db) => deleteEventsBefore(db, where))
  }
  await cancelTask(app, task_id)
  expect((await app.events(task_id)).at(-1)?.event).toBe('task.finished')
})

test('a partition is dropped when all of its tasks are deleted, and tasks wait until its logs are removed', async () => {
  const app = await openApp()
  const { id }: ApiResponse['body'] = await app.finished((await app.createTask({ input: LINES })).id)
  const [table = ''] = Object.keys(await countByPartition(app.ctx.db))
  const later = ctxLater(app, 90)
  await rollUpReports(later)
  await pruneOldLogs(ctxLater(app, 38), 30)
  await app.ctx.store.transact(async (db) => void (await sql`comment on table ${sql.table(table)} is null`.execute(db)))
  await deleteOldTasks(later, 60)
  expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(200)
  for (let sweep = 0; sweep < 2; sweep++) await pruneOldLogs(later, 30)
  await deleteOldTasks(later, 60)
  expect((await app.call('GET', `/v1/tasks/${id}`)).status).toBe(404)
  await app.ctx.store.eventPartitions?.dropEmpty(later.world.clock.now() - 60 * DAY_MS)
  expect(await listTables(app.ctx.db)).not.toContain(table)
  // The week is past, and a task that an incorrect clock puts there is still stored.
  const { id: next }: ApiResponse['body'] = await app.finished((await app.createTask({ input: LINES })).id)
  expect(await countByPartition(app.ctx.db)).toEqual({ events_default: (await app.events(next)).length })
})

test('a replica that reads a log in a partition that another replica has dropped finds an empty log', async () => {
  const app = await openApp()
  const { id }: ApiResponse['body'] = await app.finished((await app.createTask({ input: LINES })).id)
  const [table = ''] = Object.keys(await countByPartition(app.ctx.db))
  const other = await openClient(app)
  await other.query(`drop table ${table}`)
  expect(await findFirstEventNumber(app.ctx.db, { task_id: id })).toEqual([])
  expect(await app.call('GET', `/v1/tasks/${id}/trace`)).toMatchObject({ status: 200, body: { root: null } })
  const inTransaction = app.ctx.store.transact((db) => findFirstEventNumber(db, { task_id: id }))
  await expect(inTransaction).rejects.toThrow(`relation "${table}" does not exist`)
})

test('a week with a task that is kept does not keep the weeks without tasks', async () => {
  const app = await openApp()
  await app.finished((await app.createTask({ input: LINES })).id)
  const [table = ''] = Object.keys(await countByPartition(app.ctx.db))
  const weeks = async () => (await listTables(app.ctx.db)).filter((name) => /^events_\d/.test(name))
  expect((await weeks()).length).toBeGreaterThan(2)
  await app.ctx.store.eventPartitions?.dropEmpty(app.clock.now() + 60 * DAY_MS)
  expect(await weeks()).toEqual([table])
})

test('logs that wait for the end of their week are removed after the retention became shorter than 28 days', async () => {
  const app = await openApp()
  await app.finished((await app.createTask({ input: LINES })).id)
  const before = await countByPartition(app.ctx.db)
  const [table = ''] = Object.keys(before)
  const client = await openClient(app)
  await client.query("begin; select pg_advisory_xact_lock_shared(hashtext('svc'), hashtext('event partitions'))")
  await pruneOldLogs(ctxLater(app, 38), 30)
  expect(await countByPartition(app.ctx.db)).toEqual(before)
  await client.query('rollback')
  // The week before goes first.
  for (let sweep = 0; sweep < 2; sweep++) await pruneOldLogs(ctxLater(app, 38), 7)
  expect(await countByPartition(app.ctx.db)).toEqual({ [table]: 1 })
})

test('a replica learns which partitions other replicas have created', async () => {
  const url = await createDatabase()
  const store = await openPostgresStore(url, () => {})
  onTestFinished(() => store.close())
  const partitions = new PostgresEventPartitions(new DatabaseServers(url), 'svc/other partitions')
  await partitions.load(store.db)
  const id = createId('task', Date.now() + 50 * DAY_MS, (bytes) => new Uint8Array(bytes))
  await store.eventPartitions?.createAhead(store.db, Date.now() + 35 * DAY_MS)
  expect(partitions.tableOf(id)).toBe('events')
  await partitions.createAhead(store.db, Date.now())
  expect(partitions.tableOf(id)).toMatch(/^events_\d{8}$/)
})

test('replicas create the partitions of the next weeks once, and skip a week that the default partition has', async () => {
  const url = await createDatabase()
  const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(url, () => {})))
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))))
  const [store] = stores as [Store]
  const before = await listTables(store.db)
  const farAhead = Date.now() + 40 * DAY_MS
  const insert = (task_id: string) =>
    store.transact(async (db) => {
      await db.insertInto('events').values({ task_id, seq: 1, type: 'progress', ts: 'then', data: '{}' }).execute()
    })
  await insert(createId('task', farAhead, (bytes) => new Uint8Array(bytes)))
  expect(await countByPartition(store.db)).toEqual({ events_default: 1 })
  await Promise.all(stores.map(async (each) => each.eventPartitions?.createAhead(each.db, Date.now() + 35 * DAY_MS)))
  const created = (await listTables(store.db)).filter((table) => !before.includes(table))
  expect(created.length).toBeGreaterThanOrEqual(4)
  await expect(insert(createId('task', farAhead, (bytes) => new Uint8Array(bytes)))).rejects.toThrow(/duplicate key/)
})

test('a connection that is lost during the work on partitions fails only this work', async () => {
  const store = await openPostgresStore(await createDatabase(), () => {})
  onTestFinished(() => store.close())
  const before = await listTables(store.db)
  await store.transact(async (db) => {
    await sql`create function end_session() returns event_trigger language plpgsql as $$ begin
      if current_setting('application_name') like '% partitions' then perform pg_terminate_backend(pg_backend_pid()); end if;
    end $$`.execute(db)
    await sql`create event trigger end_session on ddl_command_start execute function end_session()`.execute(db)
  })
  await expect(store.eventPartitions?.createAhead(store.db, Date.now() + 35 * DAY_MS)).rejects.toThrow(/terminat/)
  expect(await listTables(store.db)).toEqual(before)
  await store.transact(async (db) => void (await sql`drop event trigger end_session`.execute(db)))
  await store.eventPartitions?.createAhead(store.db, Date.now() + 35 * DAY_MS)
  expect((await listTables(store.db)).length).toBeGreaterThan(before.length)
})

test('an upgrade waits for a dump without blocking writers, and leaves no constraint if it fails', async () => {
  const url = await createDatabase()
  const earlier = await openPostgresStore(url, () => {})
  onTestFinished(() => earlier.close())
  const id = createId('task', Date.now(), (bytes) => new Uint8Array(bytes))
  await undoPartitions(earlier, id)
  const dump = new Client({ connectionString: url })
  await dump.connect()
  onTestFinished(() => dump.end())
  await dump.query('begin; lock table events in access share mode')
  // A migration after the partitions fails.
  await earlier.transact(async (db) => void (await sql`create table audit_indexes (chain text)`.execute(db)))
  const upgrade = openPostgresStore(url, () => {}).then(
    () => 'done',
    (error: unknown) => String(error),
  )
  for (let seq = 6; seq < 16; seq++)
    await earlier.transact(async (db) => {
      await sql`set local lock_timeout = 1000`.execute(db)
      await sql`insert into events values (${id}, ${seq}, 'progress', 'then', '{}')`.execute(db)
      await sql`select pg_sleep(0.05)`.execute(db)
    })
  await dump.query('rollback')
  expect(await upgrade).toMatch(/audit_indexes/)
  const { rows } =
    await sql`select conname from pg_constraint where conrelid = 'events'::regclass and contype = 'c'`.execute(
      earlier.db,
    )
  expect(rows).toEqual([])
})

test('an upgrade of an empty event table waits for a dump without blocking writers', async () => {
  const url = await createDatabase()
  const earlier = await openPostgresStore(url, () => {})
  onTestFinished(() => earlier.close())
  const id = createId('task', Date.now(), (bytes) => new Uint8Array(bytes))
  await undoPartitions(earlier, id)
  await earlier.transact(async (db) => void (await sql`delete from events`.execute(db)))
  const dump = new Client({ connectionString: url })
  await dump.connect()
  onTestFinished(() => dump.end())
  await dump.query('begin; lock table events in access share mode')
  const upgrade = openPostgresStore(url, () => {})
  const isWaiting = async () =>
    (await sql`select 1 from pg_locks where mode = 'AccessExclusiveLock' and not granted`.execute(earlier.db)).rows
      .length
  await expect.poll(isWaiting, { interval: 5 }).toBe(1)
  for (let seq = 1; seq < 5; seq++)
    await earlier.transact(async (db) => {
      await sql`set local lock_timeout = 1000`.execute(db)
      await sql`insert into events values (${id}, ${seq}, 'progress', 'then', '{}')`.execute(db)
      await sql`select pg_sleep(0.05)`.execute(db)
    })
  await dump.query('rollback')
  const store = await upgrade
  onTestFinished(() => store.close())
  const [first = ''] = Object.keys(await countByPartition(store.db))
  expect(first).toMatch(/^events_before_\d{8}$/)
})

test('the event table of an earlier version becomes the first partition as it is', async () => {
  const url = await createDatabase()
  const earlier = await openPostgresStore(url, () => {})
  const now = Date.now()
  const id = createId('task', now, (bytes) => new Uint8Array(bytes))
  const fileOf = async (db: Db, table: string) =>
    (await sql<{ file: number }>`select pg_relation_filenode(${table}) as file`.execute(db)).rows[0]?.file
  await undoPartitions(earlier, id)
  const file = await fileOf(earlier.db, 'events')
  const stores = await Promise.all([1, 2].map(() => openPostgresStore(url, () => {})))
  onTestFinished(async () => void (await Promise.all([earlier, ...stores].map((store) => store.close()))))
  const [store] = stores as [Store]
  const [first = ''] = Object.keys(await countByPartition(store.db))
  expect(first).toMatch(/^events_before_\d{8}$/)
  expect(await fileOf(store.db, first)).toBe(file)
  // A replica of the earlier version goes on writing.
  await earlier.transact(async (db) => {
    await sql`insert into events values (${id}, 6, 'progress', 'then', '{}')`.execute(db)
  })
  const nextMonth = createId('task', now + 20 * DAY_MS, (bytes) => new Uint8Array(bytes))
  await earlier.transact(async (db) => {
    await sql`insert into events values (${nextMonth}, 1, 'progress', 'then', '{}')`.execute(db)
  })
  const { [first]: count, ...later } = await countByPartition(store.db)
  expect(count).toBe(6)
  expect(later).toEqual({ [Object.keys(later)[0] ?? '']: 1 })
  expect(Object.keys(later)[0]).toMatch(/^events_\d{8}$/)
})
