import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { testApp } from '../../app.ts'
import { createMigratedDatabase } from '../../stores.ts'
import { startPgbouncer } from './pgbouncer.ts'

describe('PgBouncer in session mode', () => {
  test('two replicas run tasks, follow them and hear of each other', async () => {
    const url = await startPgbouncer(await createMigratedDatabase(), { pool_mode: 'session' })
    const env = { DATABASE_URL: url }
    const [first, second] = [await testApp({ store: 'postgres', env }), await testApp({ store: 'postgres', env })]
    const task = await first.createTask({ input: { text: 'hello' } })
    expect(await first.finished(task.id)).toMatchObject({ status: 'succeeded' })
    const seen = await second.events(task.id)
    expect(seen.map(({ event }) => event)).toContain('task.finished')
    expect(await second.finished((await second.createTask()).id)).toMatchObject({ status: 'succeeded' })
  })

  test('change hints arrive, and sessions have their settings', async () => {
    // Other databases of the pooler may use another mode.
    const ownMode = 'pool_mode=session pool_size=50'
    const url = await startPgbouncer(await createMigratedDatabase(), { pool_mode: 'transaction' }, ownMode)
    const [first, second] = [await open(url), await open(url)]
    const received: string[] = []
    second.subscribe((topic) => received.push(topic))
    await expect
      .poll(() => {
        first.publish(['tasks'])
        return received
      })
      .toContain('tasks')
    const settings = await sql`select current_setting('jit') as jit, current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle`.execute(first.db)
    expect(settings.rows).toEqual([{ jit: 'off', statement: '30s', idle: '5s' }])
  })
})

const REFUSAL = /pooler in transaction mode.* connect to PostgreSQL directly, or set the pool mode .* to session$/

describe('PgBouncer in another mode is refused at the start', () => {
  test.each([
    ['transaction mode', { pool_mode: 'transaction' }],
    ['transaction mode with one session', { pool_mode: 'transaction', default_pool_size: '1' }],
    ['transaction mode with sessions in turn', { pool_mode: 'transaction', server_round_robin: '1' }],
    ['statement mode', { pool_mode: 'statement' }],
  ])('%s', async (_, settings) => {
    const url = await startPgbouncer(await createMigratedDatabase(), settings)
    await expect(openPostgresStore(url, () => {})).rejects.toThrow(REFUSAL)
  })

  test('transaction mode that other clients use at the same time', async () => {
    const url = await startPgbouncer(await createMigratedDatabase(), { pool_mode: 'transaction' })
    const pool = new pg.Pool({ connectionString: url, max: 8 })
    const stop = new AbortController()
    const clients = Array.from({ length: 8 }, async () => {
      while (!stop.signal.aborted) await pool.query('select pg_sleep(random() / 1000)')
    })
    onTestFinished(async () => {
      stop.abort()
      await Promise.all(clients)
      await pool.end()
    })
    for (let attempt = 0; attempt < 5; attempt++)
      await expect(openPostgresStore(url, () => {})).rejects.toThrow(REFUSAL)
  })
})

async function open(url: string) {
  const store = await openPostgresStore(url, () => {})
  onTestFinished(() => store.close())
  return store
}
