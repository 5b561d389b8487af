import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Target } from './load/statistics.ts'
import type { Mixed } from './load/mixed-calls.ts'
import { alignColumns, formatNumber } from './results.ts'
import { cpuOf, type Rig, type Server } from './rig.ts'
import { seededTaskId, seedTasks } from './seed-tasks.ts'

/** The options of the command line. */
export interface MixedLoadOptions {
  store: 'sqlite' | 'postgres'
  replicas: number
  clients: number
  seconds: number
  /** How many tasks the store holds when the load starts: one measurement for each number. */
  stored: number[]
  /** Services that already run, instead of new ones. */
  urls: string[]
}

export function parseMixedLoadOptions(words: readonly string[]): MixedLoadOptions {
  const value = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
  const number = (name: string, fallback: number) => Number(value(name) ?? fallback)
  const store = words.includes('--postgres') ? 'postgres' : 'sqlite'
  return {
    store,
    replicas: store === 'postgres' ? number('replicas', 2) : 1,
    clients: number('clients', 32),
    seconds: number('seconds', 15),
    stored: (value('stored') ?? '10000,100000,1000000').split(',').map(Number),
    urls: words.filter((word) => word.startsWith('--url=')).map((word) => word.slice('--url='.length)),
  }
}

/** Runs a realistic mix of calls against a service, once for each number of stored tasks. */
export async function runMixedLoad(rig: Rig, options: MixedLoadOptions): Promise<{ text: string; ok: boolean }> {
  const found = options.urls.length > 0 ? [await onRunning(rig, options)] : await onOwn(rig, options)
  return { text: found.map(shown).join('\n\n'), ok: found.every(({ result }) => noErrors(result)) }
}

interface Found {
  what: string
  result: Mixed
  /** Processor time for each finished task in milliseconds, services and database together. */
  effort: number | null
}

/** The services need the wedge of `bench/wedges`; the key comes from the environment variable SVC_KEY. */
async function onRunning(rig: Rig, { urls, clients, seconds }: MixedLoadOptions): Promise<Found> {
  const key = process.env['SVC_KEY'] ?? ''
  if (urls.some((url) => !url.startsWith('http:'))) throw new Error('the load tool supports plain http only')
  const targets = urls.map((url): Target => ({ host: new URL(url).hostname, port: portOf(new URL(url)), key }))
  const result = await rig.load('mix', targets[0] ?? { port: 0, key }, {
    targets,
    clients,
    ms: seconds * 1000,
    stored: [],
  })
  return { what: `${urls.join(', ')}; ${clients} clients`, result, effort: null }
}

const portOf = (url: URL) => Number(url.port || 80)

async function onOwn(rig: Rig, options: MixedLoadOptions): Promise<Found[]> {
  const { store, replicas, clients } = options
  const place = {
    database: store === 'postgres' ? await rig.database() : null,
    dir: mkdtempSync(join(rig.dir, 'data-')),
  }
  const found: Found[] = []
  let there = 0
  for (const stored of options.stored) {
    // The first start creates the schema and the project.
    if (there === 0) for (const server of await start(rig, 1, place)) await rig.stop(server)
    const open = place.database
      ? await openPostgresStore(place.database, () => {})
      : await openSqliteStore(place.dir, 'normal')
    await seedTasks(open, there, stored)
    await open.close()
    there = stored
    const what = `${stored.toLocaleString('en-US')} tasks in ${store}, ${replicas} replica(s), ${clients} clients`
    found.push({ what, ...(await measure(rig, options, await start(rig, replicas, place), stored)) })
  }
  return found
}

interface Place {
  database: string | null
  dir: string
}

async function start(rig: Rig, replicas: number, { database, dir }: Place): Promise<Server[]> {
  const servers: Server[] = []
  const env = { SVC_MAX_CONCURRENT_TASKS: '32', ...(database && { DATABASE_URL: database }) }
  for (let n = 0; n < replicas; n++) servers.push(await rig.service(env, database ? undefined : dir))
  return servers
}

async function measure(rig: Rig, options: MixedLoadOptions, servers: Server[], stored: number) {
  const sample = Array.from({ length: Math.min(stored, 2000) }, (_, n) => seededTaskId(Math.floor((n * stored) / 2000)))
  const load = { targets: servers, clients: options.clients, stored: sample }
  const [first] = servers
  if (!first) throw new Error('no replica')
  await rig.load('mix', first, { ...load, ms: options.seconds * 300 })
  const used = async () => servers.reduce((sum, { pid }) => sum + cpuOf(pid), await rig.databaseCpu())
  const before = await used()
  const result = await rig.load('mix', first, { ...load, ms: options.seconds * 1000 })
  const effort = ((await used()) - before) / tasksIn(result)
  for (const server of servers) await rig.stop(server)
  return { result, effort }
}

const tasksIn = ({ times }: Mixed) =>
  (times['create to finished']?.count ?? 0) + (times['decision to finished']?.count ?? 0)

const noErrors = ({ errors }: Mixed) => Object.keys(errors).length === 0

function shown({ what, result, effort }: Found): string {
  const lines = Object.entries(result.times).map(([name, { count, p50, p95, p99 }]) => [
    name,
    (count / result.seconds).toFixed(1),
    ...[p50, p95, p99].map(formatNumber),
  ])
  const each =
    effort === null ? '' : `, ${formatNumber(effort)} ms of processor time for each task, including all other calls`
  const wrong = Object.entries(result.errors).map(([why, times]) => `error, ${times} times: ${why}`)
  const rate = (tasksIn(result) / result.seconds).toFixed(0)
  return [
    `${what}: ${rate} tasks/s${each}`,
    alignColumns([['', 'per second', 'p50 ms', 'p95 ms', 'p99 ms'], ...lines]),
    ...(wrong.length > 0 ? wrong : ['no errors']),
  ].join('\n')
}
