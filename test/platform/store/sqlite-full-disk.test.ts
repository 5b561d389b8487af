import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailable } from '../../../src/platform/store/errors.ts'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'

test('a full disk makes the store unavailable until a write succeeds, and leaves no partial transaction', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-full-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: string[] = []
  const store = await openSqliteStore(dir, 'normal', (message) => warnings.push(message))
  onTestFinished(() => store.close())
  const limitPages = (count: number) =>
    store.transactDurably(async (db) => void (await sql.raw(`pragma max_page_count = ${count}`).execute(db)))
  const insertLarge = (id: string) => (db: typeof store.db) =>
    db
      .insertInto('replicas')
      .values({ id, started_at: 'x'.repeat(100_000), seen_at: '' })
      .execute()
  const listIds = async () => (await store.db.selectFrom('replicas').select('id').execute()).map(({ id }) => id)
  await limitPages(1)
  const withoutWrites = store.transact(async () => 'no writes')
  const [failed] = await Promise.allSettled([store.transact(insertLarge('failed')), withoutWrites])
  expect(failed).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) })
  expect(failed).toMatchObject({ reason: { message: expect.stringContaining('disk of the store is full') } })
  expect(warnings).toEqual(['the store cannot be written'])
  expect(await listIds()).toEqual([])
  const durable = store.transactDurably(insertLarge('durable'))
  await limitPages(1_000_000)
  await durable
  expect(await listIds()).toEqual(['durable'])
  await store.ping()
})
