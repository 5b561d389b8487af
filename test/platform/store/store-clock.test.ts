import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { StoreClock, SELECT_DATABASE_TIME } from '../../../src/platform/store/postgres/store-clock.ts'
import { createDatabase, dropDatabase } from '../../postgres.ts'
import { eventually } from '../../execution/runs/scripted-agent.ts'
import { proxiedStore } from './proxied-store.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

test('the clock starts at the time of the database and continues by the monotonic clock', () => {
  const clock = new StoreClock()
  const at = performance.now()
  clock.sync(Date.now() + HOUR, at, at)
  expect(Math.abs(clock.now() - Date.now() - HOUR)).toBeLessThan(1_000)
})

test('an offset within the round-trip error does not change the clock', () => {
  const clock = new StoreClock()
  const at = performance.now()
  clock.sync(1_000_000, at, at)
  clock.sync(1_000_400, at, at + 1_000)
  expect(clock.now()).toBeLessThan(1_000_400 + (performance.now() - at))
  clock.sync(1_002_000, at, at + 1_000)
  expect(clock.now()).toBeGreaterThanOrEqual(1_001_500)
})

test.each([HOUR, -HOUR])(
  'when the clock of the machine jumps by %d ms, the store clock does not change',
  async (jump) => {
    const { store } = await proxiedStore()
    const wrongTime = Date.now() + jump
    const machineClock = vi.spyOn(Date, 'now').mockImplementation(() => wrongTime)
    onTestFinished(() => machineClock.mockRestore())
    const { rows } = await sql.raw<{ ms: number }>(SELECT_DATABASE_TIME).execute(store.db)
    expect(Math.abs((store.now?.() ?? 0) - (rows[0]?.ms ?? 0))).toBeLessThan(MINUTE)
  },
)

test('when the clock of the database is set forward or back, the store clock follows it', async () => {
  const { url, setClock } = await databaseWithClock()
  await setClock(HOUR)
  const store = await openPostgresStore(url, () => {})
  onTestFinished(() => store.close())
  const offset = () => (store.now?.() ?? 0) - Date.now()
  expect(Math.abs(offset() - HOUR)).toBeLessThan(MINUTE)
  store.subscribe(() => {})
  for (const ms of [3 * HOUR, -HOUR]) {
    await setClock(ms)
    await eventually(() => Math.abs(offset() - ms) < MINUTE)
  }
})

/** A database whose clock can be set: its function `clock_timestamp` hides the one of PostgreSQL. */
async function databaseWithClock() {
  const url = await createDatabase()
  onTestFinished(() => dropDatabase(url))
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`
    create table clock as select 0::float8 as ms;
    create function clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + make_interval(secs => ms / 1000) from public.clock';
    alter database "${new URL(url).pathname.slice(1)}" set search_path = public, pg_catalog`)
  return { url, setClock: (ms: number) => client.query('update clock set ms = $1', [ms]) }
}
