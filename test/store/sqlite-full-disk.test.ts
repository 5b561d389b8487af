import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/errors.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

test('a full disk is a store that is away until a write goes through again, and leaves nothing half done', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-full-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const store = await openSqliteStore(dir, 'normal')
  onTestFinished(() => store.close())
  const pages = (most: number) =>
    store.transactDurably(async (db) => void (await sql.raw(`pragma max_page_count = ${most}`).execute(db)))
  const fill = (id: string) => (db: typeof store.db) =>
    db
      .insertInto('replicas')
      .values({ id, started_at: 'x'.repeat(100_000), seen_at: '' })
      .execute()
  const kept = async () => (await store.db.selectFrom('replicas').select('id').execute()).map(({ id }) => id)
  await pages(1)
  const beside = store.transact(async () => 'nothing to write')
  const [lost] = await Promise.allSettled([store.transact(fill('lost')), beside])
  expect(lost).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) })
  expect(await kept()).toEqual([])
  const late = store.transactDurably(fill('late'))
  await pages(1_000_000)
  await late
  expect(await kept()).toEqual(['late'])
  await store.ping()
})
