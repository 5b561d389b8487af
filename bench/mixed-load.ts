import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/platform/store/sqlite/sqlite-store.ts'
import type { Target } from './load/statistics.ts'
import type { MixResult } from './load/mixed-calls.ts'
import { alignColumns, formatNumber } from './results.ts'
import { cpuOf, type Rig, type Server } from './rig.ts'
import { seededTaskId, seedStore } from './seed/seed-store.ts'

/** The options of the command line. */
export interface MixedLoadOptions {
  store: 'sqlite' | 'postgres'
  replicas: number
  clients: number
  seconds: number
  /** Numbers of stored tasks. Each number is one measurement. */
  stored: number[]
  /** Services that already run, instead of new ones. */
  urls: string[]
}

export function parseMixedLoadOptions(args: readonly string[]): MixedLoadOptions {
  const value = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
  const number = (name: string, fallback: number) => Number(value(name) ?? fallback)
  const store = args.includes('--postgres') ? 'postgres' : 'sqlite'
  return {
    store,
    replicas: store === 'postgres' ? number('replicas', 2) : 1,
    clients: number('clients', 32),
    seconds: number('seconds', 15),
    stored: (value('stored') ?? '10000,100000,1000000').split(',').map(Number),
    urls: args.filter((arg) => arg.startsWith('--url=')).map((arg) => arg.slice('--url='.length)),
  }
}

/** Runs a realistic mix of calls against a service, once for each number of stored tasks. */
export async function runMixedLoad(rig: Rig, options: MixedLoadOptions): Promise<{ text: string; ok: boolean }> {
  const measurements =
    options.urls.length > 0 ? [await measureRunningServices(rig, options)] : await measureOwnServices(rig, options)
  return {
    text: measurements.map(formatMeasurement).join('\n\n'),
    ok: measurements.every(({ result }) => Object.keys(result.errors).length === 0),
  }
}

interface Measurement {
  title: string
  result: MixResult
  /** Processor time of services and database for each finished task; null if the processes are not known. */
  cpuMsPerTask: number | null
}

/** The services need the wedge of `bench/wedges`; the key comes from the environment variable SVC_KEY. */
async function measureRunningServices(rig: Rig, { urls, clients, seconds }: MixedLoadOptions): Promise<Measurement> {
  const key = process.env['SVC_KEY'] ?? ''
  if (urls.some((url) => !url.startsWith('http:'))) throw new Error('the load tool supports plain http only')
  const targets = urls.map((url): Target => ({ host: new URL(url).hostname, port: portOf(new URL(url)), key }))
  const result = await rig.load('runMix', targets[0] ?? { port: 0, key }, {
    targets,
    clients,
    ms: seconds * 1000,
    stored: [],
  })
  return { title: `${urls.join(', ')}; ${clients} clients`, result, cpuMsPerTask: null }
}

const portOf = (url: URL) => Number(url.port || 80)

async function measureOwnServices(rig: Rig, options: MixedLoadOptions): Promise<Measurement[]> {
  const { store, replicas, clients } = options
  const location = {
    database: store === 'postgres' ? await rig.database() : null,
    dir: mkdtempSync(join(rig.dir, 'data-')),
  }
  const measurements: Measurement[] = []
  let seeded = 0
  for (const stored of options.stored) {
    // The first start creates the schema and the project.
    if (seeded === 0) for (const server of await startReplicas(rig, 1, location)) await rig.stop(server)
    const openedStore = location.database
      ? await openPostgresStore(location.database, () => {})
      : await openSqliteStore(location.dir, 'normal')
    await seedStore(openedStore, seeded, stored)
    await openedStore.close()
    seeded = stored
    const title = `${stored.toLocaleString('en-US')} tasks in ${store}, ${replicas} replica(s), ${clients} clients`
    const servers = await startReplicas(rig, replicas, location)
    measurements.push({ title, ...(await measureServers(rig, options, servers, stored)) })
  }
  return measurements
}

interface StoreLocation {
  database: string | null
  dir: string
}

async function startReplicas(rig: Rig, replicas: number, { database, dir }: StoreLocation): Promise<Server[]> {
  const servers: Server[] = []
  const env = { SVC_MAX_CONCURRENT_TASKS: '32', ...(database && { DATABASE_URL: database }) }
  for (let n = 0; n < replicas; n++) servers.push(await rig.service(env, database ? undefined : dir))
  return servers
}

async function measureServers(rig: Rig, options: MixedLoadOptions, servers: Server[], stored: number) {
  const sample = Array.from({ length: Math.min(stored, 2000) }, (_, n) => seededTaskId(Math.floor((n * stored) / 2000)))
  const load = { targets: servers, clients: options.clients, stored: sample }
  const [first] = servers
  if (!first) throw new Error('the load needs at least one replica')
  await rig.load('runMix', first, { ...load, ms: options.seconds * 300 })
  const cpuMs = async () => servers.reduce((sum, { pid }) => sum + cpuOf(pid), await rig.databaseCpu())
  const before = await cpuMs()
  const result = await rig.load('runMix', first, { ...load, ms: options.seconds * 1000 })
  const cpuMsPerTask = ((await cpuMs()) - before) / countTasks(result)
  for (const server of servers) await rig.stop(server)
  return { result, cpuMsPerTask }
}

const countTasks = ({ times }: MixResult) =>
  (times['create to finished']?.count ?? 0) + (times['decision to finished']?.count ?? 0)

function formatMeasurement({ title, result, cpuMsPerTask }: Measurement): string {
  const lines = Object.entries(result.times).map(([name, { count, p50, p95, p99 }]) => [
    name,
    (count / result.seconds).toFixed(1),
    ...[p50, p95, p99].map(formatNumber),
  ])
  const cpuNote =
    cpuMsPerTask === null
      ? ''
      : `, ${formatNumber(cpuMsPerTask)} ms of processor time for each task, including all other calls`
  const errors = Object.entries(result.errors).map(([message, count]) => `error, ${count} times: ${message}`)
  const rate = (countTasks(result) / result.seconds).toFixed(0)
  return [
    `${title}: ${rate} tasks/s${cpuNote}`,
    alignColumns([['', 'per second', 'p50 ms', 'p95 ms', 'p99 ms'], ...lines]),
    ...(errors.length > 0 ? errors : ['no errors']),
  ].join('\n')
}
