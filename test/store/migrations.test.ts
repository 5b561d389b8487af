import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, Migrator, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Json } from '../../src/base/json.ts'
import { listColumns } from '../../src/records/filter/column-rows.ts'
import { toRecordFields } from '../../src/records/filter/fields.ts'
import { hashCollection } from '../../src/records/filter/collection.ts'
import { matchesConditions, parseWhere } from '../../src/records/filter/where.ts'
import { planByScan } from '../../src/records/filter/plan-by-scan.ts'
import { toFieldTests } from '../../src/records/filter/condition-sql.ts'
import { addClientSums } from '../../src/reports/rollup-rows.ts'
import { MIGRATIONS } from '../../src/store/schema/migrations.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { createSqliteKysely, openSqliteConnection } from '../../src/store/sqlite/sqlite-connection.ts'
import type { Db, Store } from '../../src/store/store.ts'
import type { Tables } from '../../src/store/tables.ts'
import { createDatabase } from '../postgres.ts'
import { eachStore, type StoreKind } from '../stores.ts'

interface Place {
  /** As an older service would find it. */
  bare(): Db
  open(): Promise<Store>
}

async function newPlace(store: StoreKind): Promise<Place> {
  if (store === 'postgres') {
    const url = await createDatabase()
    const pool = () => new pg.Pool({ connectionString: url, max: 1 })
    return {
      bare: () => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool() }) }),
      open: () => openPostgresStore(url, () => {}),
    }
  }
  const dir = mkdtempSync(join(tmpdir(), 'svc-migrate-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return {
    bare: () => createSqliteKysely(openSqliteConnection(join(dir, 'svc.db'), 'full'), null),
    open: () => openSqliteStore(dir, 'full'),
  }
}

async function bringTo(db: Db, name: string): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
  const { error } = await migrator.migrateTo(name)
  if (error) throw error
}

const tablesOf = (store: StoreKind, db: Db) =>
  store === 'sqlite'
    ? sql`select name from sqlite_master where type = 'table'`.execute(db)
    : sql`select tablename from pg_tables where schemaname = 'public'`.execute(db)

/** More fields than there are columns. */
const WIDE = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, n]))

/** A record and its index as they were then, with a row that told its shape. */
async function insertAsBefore(db: Db, id: string, value: Json): Promise<void> {
  const place = { wedge: 'echo', project_id: 'prj_1', collection: 'things' }
  const rest = { key: id, value: JSON.stringify(value), version: 1, created_at: 'then', updated_at: 'then' }
  await db
    .insertInto('records')
    .values({ id, ...place, ...rest })
    .execute()
  const shelf = hashCollection('prj_1', 'things')
  const fields = [...toRecordFields(value), { path: '', sortKey: 'shape' }]
  await db
    .insertInto('record_fields')
    .values(fields.map(({ path, sortKey }) => ({ record_id: id, shelf, wedge: 'echo', path, sort_key: sortKey })))
    .execute()
}

eachStore((store) => {
  test('members of an older store stay signed in, and their sessions go with them', async () => {
    const place = await newPlace(store)
    const old = place.bare()
    await bringTo(old, '0019_approval_connection')
    const at = '2026-01-01T00:00:00.000Z'
    await old.insertInto('organisations').values({ id: 'org_1', name: 'One', created_at: at, founding: 1 }).execute()
    const member = { org_id: 'org_1', name: null, role: 'owner', invite_hash: null, invite_expires_at: null }
    const ids = ['mem_1', 'mem_2']
    for (const id of ids) {
      const row = { ...member, id, email: `${id}@example.com`, password: 'hashed', created_at: at }
      await old.insertInto('members').values(row).execute()
      await old.insertInto('sessions').values({ hash: id, member_id: id, created_at: at, expires_at: at }).execute()
    }
    await old.destroy()
    const opened = await place.open()
    onTestFinished(() => opened.close())
    const sessions = async () =>
      (await opened.db.selectFrom('sessions').select('hash').orderBy('hash').execute()).length
    expect((await opened.db.selectFrom('members').select('id').orderBy('id').execute()).map(({ id }) => id)).toEqual(
      ids,
    )
    expect(await sessions()).toBe(2)
    await opened.transact(async (tx) => void (await tx.deleteFrom('members').where('id', '=', 'mem_1').execute()))
    expect(await sessions()).toBe(1)
  })

  test('logs and audit entries of an older store are all there after its migration', async () => {
    const place = await newPlace(store)
    const old = place.bare()
    await bringTo(old, '0013_lists')
    const events = Array.from({ length: 50 }, (_, i) => ({
      task_id: `task_${i % 3}`,
      seq: i + 1,
      type: 'token.delta',
      ts: 'then',
      data: JSON.stringify({ text: 'x'.repeat(i * 100) }),
    }))
    const entries = Array.from({ length: 50 }, (_, i) => ({
      chain: `prj_${i % 2}`,
      seq: i + 1,
      ts: 'then',
      actor_kind: 'key',
      actor_id: 'key_1',
      action: 'task.created',
      subject: `task_${i}`,
      data: '{}',
      prev_hash: 'a',
      hash: 'b',
    }))
    await old.insertInto('events').values(events).execute()
    await old.insertInto('audit_entries').values(entries).execute()
    await old.destroy()
    const opened = await place.open()
    onTestFinished(() => opened.close())
    expect(await opened.db.selectFrom('events').selectAll().orderBy('seq').execute()).toEqual(events)
    expect(await opened.db.selectFrom('audit_entries').selectAll().orderBy('seq').execute()).toEqual(entries)
    await expect(
      opened.transact((db) => db.insertInto('events').values(events.slice(0, 1)).execute()),
      'a number of a log is given once',
    ).rejects.toThrow()
  })

  test('files of an older store are all there after its migration, and the output is not kept twice', async () => {
    const place = await newPlace(store)
    const old = place.bare()
    await bringTo(old, '0014_fewer_pages')
    const artifact = (id: string) => ({ id, project_id: 'prj_1', task_id: `task_${id}`, content_type: 'text/plain' })
    const rest = { name: 'a.txt', size: 7, created_at: 'then' }
    const large = 'QUJD'.repeat(50_000)
    for (const [id, content] of Object.entries({ art_1: null, art_2: 'aGVsbG8=', art_3: large })) {
      await sql`insert into artifacts (id, project_id, task_id, name, content_type, size, content, created_at) values
        (${id}, 'prj_1', ${`task_${id}`}, 'a.txt', 'text/plain', 7, ${content}, 'then')`.execute(old)
    }
    await old.destroy()
    const opened = await place.open()
    onTestFinished(() => opened.close())
    const { db } = opened
    expect(await db.selectFrom('artifacts').selectAll().orderBy('id').execute()).toEqual(
      ['art_1', 'art_2', 'art_3'].map((id) => ({ ...artifact(id), ...rest })),
    )
    expect(await db.selectFrom('artifact_files').selectAll().orderBy('artifact_id').execute()).toEqual([
      { artifact_id: 'art_2', content: 'aGVsbG8=' },
      { artifact_id: 'art_3', content: large },
    ])
  })

  test('records of an older store are found by every filter after its migration', async () => {
    const place = await newPlace(store)
    const old = place.bare()
    await bringTo(old, '0015_files_apart')
    const long = 'x'.repeat(80)
    const values: Json[] = [{ a: 1, b: { c: long } }, { a: -2.5, d: null }, 5, { b: { c: `${long}y` }, a: 256 }, WIDE]
    for (const [n, value] of values.entries()) await insertAsBefore(old, `rec_${n}`, value)
    await old.destroy()
    const opened = await place.open()
    onTestFinished(() => opened.close())
    const shelf = hashCollection('prj_1', 'things')
    const at = { projectId: 'prj_1', shelf, columns: await listColumns(opened.db, shelf), limit: 50 }
    expect(at.columns.size).toBe(64)
    const filters = [{ a: { $gte: 1 } }, { 'b.c': long }, { a: { $exists: false } }, { d: { $ne: null } }, { f99: 99 }]
    for (const filter of filters) {
      const conditions = parseWhere(filter)
      const expected = values
        .flatMap((value, n) => (matchesConditions(conditions, value) ? [`rec_${n}`] : []))
        .toReversed()
      const { rows } = await planByScan(opened.db, at, toFieldTests(conditions)).execute(opened.db)
      expect(rows.map(({ id }) => id)).toEqual(expected)
    }
    expect(await opened.db.selectFrom('record_fields').selectAll().where('path', '=', '').execute()).toEqual([])
  })

  test('sums of an older store are all there after its migration, and those of its years are right', async () => {
    const place = await newPlace(store)
    const old = place.bare()
    await bringTo(old, '0017_sealed_heads')
    const days = ['2024-12-31', '2025-01-01', '2025-01-31', '2025-07-04']
    const around = (day: string) => [day, day.slice(0, 7)]
    const rows = <Row>(spans: string[], row: (span: string) => Row[]) => [...new Set(spans)].toSorted().flatMap(row)
    const daysIn = (span: string) => days.filter((day) => day.startsWith(span)).length
    const client = (project_id: string, client_id: string) => (span: string) => [
      { project_id, span, client_id, runs: 2 * daysIn(span), cost_micros: 1_000_003 * daysIn(span) },
    ]
    const approval = (wait_ms: number) => (span: string) => [
      { project_id: 'prj_1', span, status: 'approved', wait_ms, n: 3 * daysIn(span) },
    ]
    const before = days.flatMap(around)
    const after = [...before, '2024', '2025']
    const clientsOf = (spans: string[]) =>
      [client('prj_1', 'cli_1'), client('prj_1', 'cli_2'), client('prj_2', 'cli_3')].flatMap((of) => rows(spans, of))
    const approvalsOf = (spans: string[]) => [approval(-1), approval(7_000)].flatMap((of) => rows(spans, of))
    const runs = days.map((day) => ({
      project_id: 'prj_1',
      day,
      wedge: 'echo',
      status: 'failed',
      runs: 1,
      cost_micros: 9,
    }))
    await old.insertInto('report_clients').values(clientsOf(before)).execute()
    await old.insertInto('report_approvals').values(approvalsOf(before)).execute()
    await old.insertInto('report_runs').values(runs).execute()
    await old.destroy()
    const opened = await place.open()
    onTestFinished(() => opened.close())
    const { db } = opened
    const clients = await db.selectFrom('report_clients').selectAll().orderBy('client_id').orderBy('span').execute()
    expect(clients).toEqual(clientsOf(after))
    expect(await db.selectFrom('report_approvals').selectAll().orderBy('wait_ms').orderBy('span').execute()).toEqual(
      approvalsOf(after),
    )
    expect(await db.selectFrom('report_runs').selectAll().orderBy('day').execute()).toEqual(runs)
    await opened.transact((tx) => addClientSums(tx, client('prj_1', 'cli_1')('2025')))
    const grown = clients.find(({ client_id, span }) => client_id === 'cli_1' && span === '2025')
    expect(
      await db
        .selectFrom('report_clients')
        .select('runs')
        .where('span', '=', '2025')
        .where('client_id', '=', 'cli_1')
        .execute(),
      'a sum is one row, which grows',
    ).toEqual([{ runs: 2 * (grown?.runs ?? 0) }])
  })

  test('a migration that fails in the middle leaves the store as it was', async () => {
    const place = await newPlace(store)
    const before = place.bare()
    await sql`create table webhooks (id text primary key)`.execute(before)
    const known = await tablesOf(store, before)
    await expect(place.open()).rejects.toThrow(/webhooks/)
    const left = (await tablesOf(store, before)).rows.filter((row) => !JSON.stringify(row).includes('kysely'))
    expect(left).toEqual(known.rows)
    await sql`drop table webhooks`.execute(before)
    await before.destroy()
    await (await place.open()).close()
  })
})
