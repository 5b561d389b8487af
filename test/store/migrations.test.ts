import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { createSqliteKysely, openSqliteConnection } from '../../src/store/sqlite/sqlite-connection.ts'
import type { Db, Store } from '../../src/store/store.ts'
import type { Tables } from '../../src/store/tables.ts'
import { createDatabase } from '../postgres.ts'
import { eachStore, type StoreKind } from '../stores.ts'

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

eachStore((store) => {
  test('a store that was migrated before opens again with its rows', async () => {
    const database = await emptyDatabase(store)
    const first = await database.open()
    const row = { id: 'replica_1', started_at: 'then', seen_at: 'then' }
    await first.transact((db) => db.insertInto('replicas').values(row).execute())
    await first.close()
    const second = await database.open()
    onTestFinished(() => second.close())
    expect(await second.db.selectFrom('replicas').selectAll().execute()).toEqual([row])
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
  const { rows } = await sql`select name from kysely_migration`.execute(db)
  await db.destroy()
  expect(rows).toEqual([{ name: '0001_initial_schema' }])
})
