import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, type Migration, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS, migrateStore } from '../../../src/platform/store/schema/migrations.ts'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'
import { openSqliteConnection } from '../../../src/platform/store/sqlite/sqlite-connection.ts'
import { createSqliteKysely } from '../../../src/platform/store/sqlite/sqlite-kysely.ts'
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
    connect: () => createSqliteKysely(openSqliteConnection(join(dir, 'svc.db'), 'full')),
    open: () => openSqliteStore(dir, 'full'),
  }
}

const listTables = (store: StoreKind, db: Db) =>
  store === 'sqlite'
    ? sql`select name from sqlite_master where type = 'table'`.execute(db)
    : sql`select tablename from pg_tables where schemaname = 'public'`.execute(db)

/** What a later version would add. */
const LATER: Record<string, Migration> = {
  ...MIGRATIONS,
  '0101_colour': { up: async (db) => void (await sql`alter table cases add column colour text`.execute(db)) },
  '0102_colours': { up: async (db) => void (await sql`create index cases_colour on cases (colour)`.execute(db)) },
}

async function listMigrations(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

eachStore((store) => {
  test.each([
    [
      'an earlier version',
      '0001_initial_schema',
      'this database is from a version before 0.2.0, which cannot be upgraded: start with an empty database (it has the migration 0001_initial_schema, see docs/upgrade.md)',
    ],
    [
      'a later version',
      '9999_later',
      'this database is from a newer version than this one: install that version, or restore a backup (it has the migration 9999_later, see docs/upgrade.md)',
    ],
  ])('a database of %s is refused with a sentence and stays as it is', async (_, name, sentence) => {
    const database = await emptyDatabase(store)
    const db = database.connect()
    await migrateStore(db, {
      [name]: { up: async (inside) => void (await sql`create table tasks (id text)`.execute(inside)) },
    })
    const before = await listTables(store, db)
    await expect(database.open()).rejects.toThrow(sentence)
    expect(await listTables(store, db)).toEqual(before)
    expect(await listMigrations(db)).toEqual([name])
    await db.destroy()
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

  test('a later version runs its migrations once, in order, and keeps the rows', async () => {
    const database = await emptyDatabase(store)
    await (await database.open()).close()
    const db = database.connect()
    await sql`insert into organisations (id, name, created_at) values ('org_1', 'O', 'then')`.execute(db)
    for (let start = 0; start < 2; start++) await migrateStore(db, LATER)
    expect(await listMigrations(db)).toEqual(['0100_initial_schema', '0101_colour', '0102_colours'])
    expect((await sql`select colour from cases`.execute(db)).rows).toEqual([])
    expect((await sql`select id from organisations`.execute(db)).rows).toEqual([{ id: 'org_1' }])
    await db.destroy()
  })

  test('a store opens after replicas with different clocks have migrated it', async () => {
    const database = await emptyDatabase(store)
    const db = database.connect()
    await migrateStore(db, LATER)
    await sql`update kysely_migration set timestamp = '2999-01-01T00:00:00.000Z' where name like '0101%'`.execute(db)
    await migrateStore(db, LATER)
    await db.destroy()
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

test('PostgreSQL: a migration that fails leaves the migrations before it, and the next start continues', async () => {
  const database = await emptyDatabase('postgres')
  await (await database.open()).close()
  const db = database.connect()
  await sql`create table cases_colour (id text)`.execute(db)
  await expect(migrateStore(db, LATER)).rejects.toThrow(/cases_colour/)
  expect(await listMigrations(db)).toEqual(['0100_initial_schema', '0101_colour'])
  await sql`drop table cases_colour`.execute(db)
  await migrateStore(db, LATER)
  expect(await listMigrations(db)).toEqual(Object.keys(LATER))
  await db.destroy()
})

test('PostgreSQL: replicas that start together on an empty database migrate it once', async () => {
  const database = await emptyDatabase('postgres')
  const stores = await Promise.all([1, 2, 3].map(() => database.open()))
  for (const store of stores) await store.close()
  const db = database.connect()
  expect(await listMigrations(db)).toEqual(Object.keys(MIGRATIONS))
  await db.destroy()
})
