import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { loadSqlite } from '../../../src/platform/store/sqlite/load-sqlite/load-sqlite.ts'
import { openSqliteStore, vacuumSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'
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

test('a file of an earlier version gives space back after it was rewritten once', async () => {
  const { dir, size } = dataFolder()
  const { DatabaseSync } = loadSqlite()
  const earlier = new DatabaseSync(join(dir, 'svc.db'))
  earlier.exec('create table other (a)')
  earlier.close()
  const before = await openSqliteStore(dir, 'normal')
  expect(before.releaseSpace).toBeNull()
  await insertTranscripts(before, 1_000)
  await deleteTranscripts(before)
  await before.close()
  const { bytesBefore, bytesAfter } = vacuumSqliteStore(dir)
  expect(bytesBefore).toBeGreaterThan(10 * MIB)
  expect(bytesAfter).toBeLessThan(2 * MIB)
  expect(size()).toBe(bytesAfter)
  const after = await openSqliteStore(dir, 'normal')
  onTestFinished(() => after.close())
  expect(after.releaseSpace).not.toBeNull()
  expect(await after.db.selectFrom('transcripts').select('seq').execute()).toHaveLength(11)
})
