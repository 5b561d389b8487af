import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { createDatabaseOn, createPostgres, killPostgres, removePostgres, startPostgres } from '../../postgres.ts'

test('PostgreSQL crash during a commit: the transaction is repeated, although the server has reused its id', async () => {
  // The log of the transaction is not on the disk when the server is killed, so the server forgets the transaction.
  const server = await createPostgres({ wal_writer_delay: '10s' })
  onTestFinished(() => removePostgres(server))
  const url = await createDatabaseOn(server.url)
  const store = await openPostgresStore(url, () => {})
  onTestFinished(() => store.close())
  let attempts = 0
  await store.transactDurably(async (db) => {
    const now = new Date().toISOString()
    await db
      .insertInto('replicas')
      .values({ id: `rep_${++attempts}`, started_at: now, seen_at: now })
      .execute()
    if (attempts > 1) return
    await killPostgres(server)
    await startPostgres(server)
    await commitTransactions(url, 20)
  })
  expect(attempts).toBe(2)
  expect(await store.db.selectFrom('replicas').select('id').execute()).toEqual([{ id: 'rep_2' }])
})

/** Other clients commit transactions, which get the ids that the server has lost. */
async function commitTransactions(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (let n = 0; n < count; n++) await client.query('select pg_current_xact_id()')
  await client.end()
}
