import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'

const MEGABYTE = 1024 * 1024

test('the write-ahead log of SQLite stays small while one read follows another', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-reads-'))
  const store = await openSqliteStore(dir, 'normal')
  onTestFinished(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  await store.transact((db) => sql`create table filler (at integer, bytes blob)`.execute(db).then(() => {}))
  const write = (at: number) =>
    store.transact((db) => sql`insert into filler values (${at}, randomblob(${MEGABYTE}))`.execute(db).then(() => {}))
  /** Takes longer than a write, so that the next read has begun when this one ends. */
  const count = async () => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from filler, (
      with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < 200000)
      select max(i) from numbers)`.execute(store.lists)
    return rows[0]?.n ?? 0
  }
  let current = count()
  for (let at = 0; at <= 60; at++) {
    const next = count()
    await write(at)
    await current
    current = next
  }
  await current
  expect(await count()).toBe(61)
  expect(statSync(join(dir, 'svc.db-wal')).size).toBeLessThan(24 * MEGABYTE)
})
