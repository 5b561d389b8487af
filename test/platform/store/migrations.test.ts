import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'
import { createSqliteKysely, openSqliteConnection } from '../../../src/platform/store/sqlite/sqlite-connection.ts'
import type { Db, Store } from '../../../src/platform/store/store.ts'
import type { Tables } from '../../../src/platform/store/tables.ts'
import { createDatabase } from '../../postgres.ts'
import { eachStore, type StoreKind } from '../../stores.ts'

interface EmptyDatabase {
  /** A connection to the database, which has no tables of the service yet. */
  connect(): Db
  /** Opens the store, which runs the migrations. */
  open(): Promise<Store>
}

async function emptyDatabase(store: StoreKind): Promise<EmptyDatabase> {
  if (store === 'postgres') {
    const url = await createDatabase()
    const pool = () => new pg.Pool({ connectionString: url, max: 1 })
    return {
      connect: () => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool() }) }),
      open: () => openPostgresStore(url, () => {}),
    }
  }
  const dir = mkdtempSync(join(tmpdir(), 'svc-migrate-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return {
    connect: () => createSqliteKysely(openSqliteConnection(join(dir, 'svc.db'), 'full'), null),
    open: () => openSqliteStore(dir, 'full'),
  }
}

const listTables = (store: StoreKind, db: Db) =>
  store === 'sqlite'
    ? sql`select name from sqlite_master where type = 'table'`.execute(db)
    : sql`select tablename from pg_tables where schemaname = 'public'`.execute(db)

const UNDO_STORAGE_USAGE_AND_LATER = [
  ...['approvals_held', 'approvals_held_by'].map((index) => `drop index ${index}`),
  ...['held', 'held_until', 'held_by_id', 'dropped'].map((column) => `alter table approvals drop column ${column}`),
  'drop table signed_tokens',
  'drop table events',
  `create table events (task_id text not null, seq bigint not null, type text not null, ts text not null,
    data text not null, primary key (task_id, seq))`,
  ...['audit_blocks', 'audit_indexes'].map((table) => `drop table ${table}`),
  ...['approvals_edited', 'threads_unread', 'threads_unread_activity'].map((index) => `drop index ${index}`),
  ...['tasks_expired', 'approvals_assignee', 'cases_project', 'threads_held', 'webhook_deliveries_failed'].map(
    (index) => `drop index ${index}`,
  ),
  'create index cases_project on cases (project_id, id)',
  ...[
    'tasks_queued_wedge',
    'report_runs_wedge',
    'threads_unanswered_id',
    'threads_unanswered_activity',
    'webhook_deliveries_pending',
  ].map((index) => `drop index if exists ${index}`),
  ...['max_tasks', 'runner_projects', 'runner_wedges'].map((column) => `alter table replicas drop column ${column}`),
  ...[
    'wedge_policies',
    'mcp_tokens',
    'mcp_codes',
    'mcp_authorisations',
    'mcp_apps',
    'decision_links',
    'notification_messages',
    'notification_codes',
    'notification_links',
    'notification_settings',
    'notifiers',
    'approval_comments',
    'approval_votes',
  ].map((table) => `drop table ${table}`),
  'drop index approvals_pending',
  ...['tracestate', 'traceparent'].map((column) => `alter table tasks drop column ${column}`),
  'drop index approvals_of_client',
  'drop index approvals_outdated',
  'drop index approvals_notify',
  ...[
    'needed',
    'approvers',
    'excludes_requester',
    'escalate',
    'escalated_at',
    'notify_at',
    'assignee_id',
    'version',
    'has_messages',
  ].map((column) => `alter table approvals drop column ${column}`),
  'alter table tasks drop column requested_by_kind',
  'alter table tasks drop column requested_by_id',
  'drop index intake_questions_open',
  'drop index connections_failing',
  'drop index cases_thread',
  'alter table cases drop column assignee_id',
  'alter table cases drop column thread_id',
  'drop index messages_waiting',
  'drop index messages_task',
  ...['is_waiting', 'sent_by', 'is_unverified', 'verdict'].map(
    (column) => `alter table messages drop column ${column}`,
  ),
  'alter table client_handles drop column is_verified',
  'alter table messages drop column is_automatic',
  ...['notice_opt_outs', 'notice_tokens', 'brands'].map((table) => `drop table ${table}`),
  'drop index threads_untold',
  'alter table threads drop column client_told_count',
  'alter table threads drop column client_read_count',
  'drop index projects_slug',
  'drop index tasks_thread',
  'alter table tasks drop column ready_at',
  ...['delivery_error', 'delivery', 'address', 'author_id', 'author_kind'].map(
    (column) => `alter table messages drop column ${column}`,
  ),
  'drop index threads_unanswered',
  'drop index threads_activity',
  'drop index threads_reply_token',
  'drop index threads_open',
  ...['unanswered_task_id', 'unanswered_reason', 'unanswered_at', 'read_count', 'held_by_id', 'held_by_kind'].map(
    (column) => `alter table threads drop column ${column}`,
  ),
  'alter table threads drop column reply_token',
  'alter table threads drop column conversation_key',
  "create unique index threads_open on threads (channel_id, client_id) where status = 'open'",
  ...[
    'last_error_at',
    'last_error',
    'last_received_at',
    'poller_until',
    'poller',
    'progress',
    'settle_s',
    'config',
  ].map((column) => `alter table channels drop column ${column}`),
  'alter table channels drop column adapter',
  'alter table artifacts drop column storage',
  ...['message_files', 'task_files', 'file_chunks', 'files'].map((table) => `drop table ${table}`),
  'alter table approvals drop column revise',
  'alter table approvals drop column tool',
  'drop table connection_files',
  'drop table connection_tools',
  'drop table token_locks',
  'drop table oauth_flows',
  'drop index tasks_retry',
  'drop index approvals_client',
  'alter table approvals drop column client_id',
  'drop index tasks_released',
  'alter table effects drop column result',
  'drop table run_states',
  'drop table transcripts',
  'drop table storage_usage',
  'alter table records drop column replaced_bytes',
  'alter table tasks drop column counted_events',
  "delete from kysely_migration where name >= '0003_storage_usage'",
]

eachStore((store) => {
  test.each([
    ['9999_later', 'this database is from a newer version than this one (migration 9999_later); see docs/upgrade.md'],
    ['0001_accounts', 'this database is from a version before 0.1.0 (migration 0001_accounts); see docs/upgrade.md'],
  ])('a database in which another version has run %s is refused with a sentence', async (name, sentence) => {
    const database = await emptyDatabase(store)
    await (await database.open()).close()
    const db = database.connect()
    await sql`update kysely_migration set name = ${name} where name = '0001_initial_schema'`.execute(db)
    await db.destroy()
    await expect(database.open()).rejects.toThrow(sentence)
  })

  test('a store that was migrated before opens again with its rows', async () => {
    const database = await emptyDatabase(store)
    const first = await database.open()
    const row = {
      id: 'replica_1',
      started_at: 'then',
      seen_at: 'then',
      max_tasks: 8,
      runner_projects: null,
      runner_wedges: '["echo"]',
    }
    await first.transact((db) => db.insertInto('replicas').values(row).execute())
    await first.close()
    const second = await database.open()
    onTestFinished(() => second.close())
    expect(await second.db.selectFrom('replicas').selectAll().execute()).toEqual([row])
  })

  test('a store opens after replicas with different clocks have migrated it', async () => {
    const database = await emptyDatabase(store)
    await (await database.open()).close()
    const db = database.connect()
    await sql`update kysely_migration set timestamp = '2999-01-01T00:00:00.000Z' where name like '0002%'`.execute(db)
    await db.destroy()
    await (await database.open()).close()
  })

  test('a store without storage usage gets the bytes of its rows', async () => {
    const database = await emptyDatabase(store)
    const first = await database.open()
    await first.transact(async (db) => {
      // The views are made again after the migrations.
      if (store === 'postgres') await sql`drop schema readable cascade`.execute(db)
      for (const statement of UNDO_STORAGE_USAGE_AND_LATER) await sql.raw(statement).execute(db)
      await sql`insert into organisations (id, name, created_at) values ('org_1', 'O', 'then')`.execute(db)
      await sql`insert into projects (id, org_id, slug, name, tier, created_at)
        values ('prj_1', 'org_1', 'p', 'P', 'default', 'then')`.execute(db)
      await sql`insert into records (id, project_id, wedge, collection, key, value, version, created_at, updated_at)
        values ('rec_1', 'prj_1', 'w', 'c', 'k', '"ä"', 1, 'then', 'then')`.execute(db)
      for (const [id, finished] of [
        ['task_1', 'then'],
        ['task_2', null],
      ]) {
        await sql`insert into tasks (id, project_id, wedge, task_type, status, input, actor, constraints, tools,
            cost_micros, last_event_id, epoch, created_at, finished_at)
          values (${id}, 'prj_1', 'w', 't', 'running', '', '', '', '', 0, 1, 1, 'then', ${finished})`.execute(db)
        await sql`insert into events (task_id, seq, type, ts, data) values (${id}, 1, 'p', 'then', '{"a":1}')`.execute(
          db,
        )
      }
      await sql`insert into artifacts (id, project_id, task_id, name, content_type, size, created_at)
        values ('art_1', 'prj_1', 'task_1', 'f', 'text/plain', 2, 'then')`.execute(db)
      await sql`insert into artifact_files (artifact_id, content) values ('art_1', 'aGk=')`.execute(db)
    })
    await first.close()
    const second = await database.open()
    onTestFinished(() => second.close())
    // The record has 4 bytes, the log of the finished task 7 and the file 4.
    expect(await second.db.selectFrom('storage_usage').selectAll().execute()).toEqual([
      { project_id: 'prj_1', bytes: 15 },
    ])
  })

  test('a migration that fails in the middle leaves the store as it was', async () => {
    const database = await emptyDatabase(store)
    const db = database.connect()
    await sql`create table webhooks (id text primary key)`.execute(db)
    const before = await listTables(store, db)
    await expect(database.open()).rejects.toThrow(/webhooks/)
    const after = (await listTables(store, db)).rows.filter((row) => !JSON.stringify(row).includes('kysely'))
    expect(after).toEqual(before.rows)
    await sql`drop table webhooks`.execute(db)
    await db.destroy()
    await (await database.open()).close()
  })
})

test('PostgreSQL: replicas that start together on an empty database migrate it once', async () => {
  const database = await emptyDatabase('postgres')
  const stores = await Promise.all([1, 2, 3].map(() => database.open()))
  for (const store of stores) await store.close()
  const db = database.connect()
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by timestamp`.execute(db)
  await db.destroy()
  expect(rows[0]).toEqual({ name: '0001_initial_schema' })
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
})
