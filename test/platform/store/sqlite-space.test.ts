import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { loadSqlite } from '../../../src/platform/store/sqlite/load-sqlite/load-sqlite.ts'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/platform/store/store.ts'

const MIB = 1024 * 1024

function dataFolder(): { dir: string; size: () => number } {
  const dir = mkdtempSync(join(tmpdir(), 'svc-space-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return { dir, size: () => statSync(join(dir, 'svc.db')).size }
}

const insertTranscripts = (store: Store, count: number) =>
  store.transact(async (db) => {
    const entries = 'x'.repeat(10_000)
    for (let seq = 0; seq < count; seq++)
      await db.insertInto('transcripts').values({ task_id: 'a', seq, entries }).execute()
  })

const deleteTranscripts = (store: Store) =>
  store.transact(async (db) => void (await db.deleteFrom('transcripts').where('seq', '>', 10).execute()))

/** Returns the number of steps. */
async function releaseAll(store: Store): Promise<number> {
  for (let steps = 1; ; steps++) if (!(await store.releaseSpace?.())) return steps
}

test('the file of SQLite gets shorter in steps after rows are deleted, and keeps 4 MiB for the next ones', async () => {
  const { dir, size } = dataFolder()
  const store = await openSqliteStore(dir, 'normal')
  onTestFinished(() => store.close())
  await insertTranscripts(store, 2_000)
  await sql`pragma wal_checkpoint(truncate)`.execute(store.db)
  const full = size()
  expect(full).toBeGreaterThan(20 * MIB)
  await deleteTranscripts(store)
  expect(await releaseAll(store)).toBeGreaterThan(50)
  expect(size()).toBeLessThan(7 * MIB)
  const rows = await store.db.selectFrom('transcripts').selectAll().execute()
  expect(rows).toHaveLength(11)
  const { rows: check } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db)
  expect(check).toEqual([{ integrity_check: 'ok' }])
  expect(await store.releaseSpace?.()).toBe(false)
})

test('a file that another program wrote keeps its free space', async () => {
  const { dir, size } = dataFolder()
  const { DatabaseSync } = loadSqlite()
  const other = new DatabaseSync(join(dir, 'svc.db'))
  other.exec('create table other (a)')
  other.close()
  const store = await openSqliteStore(dir, 'normal')
  onTestFinished(() => store.close())
  expect(store.releaseSpace).toBeNull()
  await insertTranscripts(store, 1_000)
  await deleteTranscripts(store)
  await sql`pragma wal_checkpoint(truncate)`.execute(store.db)
  expect(size()).toBeGreaterThan(10 * MIB)
})
