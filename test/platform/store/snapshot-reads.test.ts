import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'

const MEGABYTE = 1024 * 1024

test('the write-ahead log of SQLite stays small while one snapshot follows another', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-snapshots-'))
  const store = await openSqliteStore(dir, 'normal')
  onTestFinished(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  await store.transact((db) => sql`create table filler (at integer, bytes blob)`.execute(db).then(() => {}))
  const write = (at: number) =>
    store.transact((db) => sql`insert into filler values (${at}, randomblob(${MEGABYTE}))`.execute(db).then(() => {}))
  const countWhile = (read: typeof store.readSnapshot, work: () => Promise<void>) =>
    read(async (db) => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from filler`.execute(db)
      await work()
      return rows[0]?.n ?? 0
    })
  const readSnapshot: typeof store.readSnapshot = (work) => store.readSnapshot(work)
  const readLists: typeof store.readSnapshot = (work) => work(store.lists)
  let next = countWhile(readSnapshot, () => write(0))
  for (let at = 1; at <= 60; at++) {
    const current = next
    // The next read waits already, so that no write comes between the two.
    const read = at % 3 === 0 ? readLists : readSnapshot
    next = countWhile(read, () => write(at))
    await current
  }
  await next
  expect(await countWhile(readSnapshot, async () => {})).toBe(61)
  expect(statSync(join(dir, 'svc.db-wal')).size).toBeLessThan(24 * MEGABYTE)
})
