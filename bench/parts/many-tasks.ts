import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '../../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/platform/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/platform/store/store.ts'
import { type CallTimes, MAX_BLOCKED_MS, MAX_P99_MS, measureCalls } from '../lists/measure-calls.ts'
import { formatNumber, goalRow, type ResultRow } from '../results.ts'
import type { Rig } from '../rig.ts'
import { seedStore } from '../seed/seed-store.ts'

/** A million tasks take several minutes, so they are measured on request only. */
const DEFAULT_SIZES = '10000,100000'
const STORED_OPTION = '--stored='
/** The slowest requests are listed by name. */
const SHOWN = 5

/** Every list, filter and report of the API on stores with many tasks, and how long each blocks the event loop. */
export async function measureManyTasks(rig: Rig): Promise<ResultRow[]> {
  const stored = process.argv.find((arg) => arg.startsWith(STORED_OPTION))?.slice(STORED_OPTION.length)
  const sizes = (stored ?? DEFAULT_SIZES).split(',').map(Number)
  const rows: ResultRow[] = []
  for (const kind of ['sqlite', 'postgres'] as const) {
    const location = { dir: mkdtempSync(join(rig.dir, 'data-')), database: await databaseFor(rig, kind) }
    // The first start creates the schema and the project.
    await rig.stop(await startService(rig, location))
    let seeded = 0
    for (const size of sizes) {
      const store = await openStore(location)
      await seedStore(store, seeded, size)
      await store.close()
      seeded = size
      const server = await startService(rig, location)
      rows.push(...summarize(await measureCalls(rig, server), `${size.toLocaleString('en-US')} tasks, ${kind}`))
      await rig.stop(server)
    }
  }
  return rows
}

interface StoreLocation {
  dir: string
  database: string | null
}

const databaseFor = async (rig: Rig, kind: Store['kind']) => (kind === 'postgres' ? rig.database() : null)

const openStore = ({ dir, database }: StoreLocation) =>
  database === null ? openSqliteStore(dir, 'normal') : openPostgresStore(database, () => {})

const startService = (rig: Rig, { dir, database }: StoreLocation) =>
  rig.service(
    { SVC_POOL: '0', ...(database !== null && { DATABASE_URL: database }) },
    database === null ? dir : undefined,
  )

/** The worst request of all, and the names of the slowest ones. */
function summarize(times: CallTimes[], store: string): ResultRow[] {
  const slowest = times.toSorted((a, b) => b.p99 - a.p99)
  const longest = times.toSorted((a, b) => b.blockedMs - a.blockedMs)
  if (process.argv.includes('--details')) for (const one of slowest) process.stderr.write(formatCall(one))
  return [
    maxRow(
      `slowest of ${times.length} lists, filters and reports, p99, ${store}`,
      slowest,
      ({ p99 }) => p99,
      MAX_P99_MS,
    ),
    maxRow(`longest block of the event loop, ${store}`, longest, ({ blockedMs }) => blockedMs, MAX_BLOCKED_MS),
  ]
}

const formatCall = ({ name, p50, p99, blockedMs }: CallTimes) =>
  `p50 ${formatNumber(p50)} p99 ${formatNumber(p99)} blocked ${formatNumber(blockedMs)} ms: ${name}\n`

function maxRow(name: string, sorted: CallTimes[], value: (call: CallTimes) => number, max: number): ResultRow {
  const listed = sorted.slice(0, SHOWN).map((call) => `${formatNumber(value(call))} ${call.name}`)
  return goalRow(name, 'ms', { service: sorted.slice(0, 1).map(value), bare: [] }, { max }, listed.join('; '))
}
