/** Runs the selected parts one after another, each against the bare baseline server. */
import { runMixedLoad, parseMixedLoadOptions } from './mixed-load.ts'
import { measureBoot } from './parts/boot.ts'
import { measureCreate, measureRead } from './parts/create.ts'
import { measureFilters } from './parts/filters.ts'
import { measureDecision, measureWorkflow } from './parts/approvals.ts'
import { measureHostileInput } from './parts/hostile.ts'
import { measureManyTasks } from './parts/many-tasks.ts'
import { measureNotices } from './parts/notify.ts'
import { measureParked } from './parts/parked.ts'
import { measurePeerShape } from './parts/peers.ts'
import {
  measureLiveStreams,
  measureReplicaDecision,
  measureReplicaDelivery,
  measureReplicaTasks,
} from './parts/postgres.ts'
import { measureOwnCell, measureProvisioning, measureTasks } from './parts/runs.ts'
import {
  measureAppend,
  measureDelivery,
  measureIdleStreams,
  measureReplay,
  measureThroughput,
} from './parts/streams.ts'
import { measureReports } from './parts/reports.ts'
import { type ResultRow, formatResults } from './results.ts'
import { type BenchFolders, Rig } from './rig.ts'

const PARTS: Record<string, (rig: Rig) => Promise<ResultRow[]>> = {
  create: measureCreate,
  get: measureRead,
  delivery: measureDelivery,
  append: measureAppend,
  throughput: measureThroughput,
  replay: measureReplay,
  idle: measureIdleStreams,
  boot: measureBoot,
  provisioning: measureProvisioning,
  tasks: measureTasks,
  peers: measurePeerShape,
  'own-cell': measureOwnCell,
  decision: measureDecision,
  notify: measureNotices,
  parked: measureParked,
  workflow: measureWorkflow,
  surface: measureReports,
  filters: measureFilters,
  'many-tasks': measureManyTasks,
  hostile: measureHostileInput,
  'pg-delivery': measureReplicaDelivery,
  'pg-decision': measureReplicaDecision,
  'pg-tasks': measureReplicaTasks,
  crowd: measureLiveStreams,
}

/** For parts with many rounds, and for those that fill a store first. */
const TIMEOUTS_MS: Record<string, number> = {
  append: 120_000,
  throughput: 120_000,
  parked: 300_000,
  peers: 300_000,
  surface: 300_000,
  filters: 300_000,
  'many-tasks': 3_600_000,
  hostile: 900_000,
  'pg-delivery': 120_000,
  'pg-decision': 150_000,
  'pg-tasks': 120_000,
  crowd: 180_000,
}
const DEFAULT_TIMEOUT_MS = 60_000

const [root = '.', programs = '.', ...args] = process.argv.slice(2)
if (args[0] === 'load') process.exit(await runLoadOnly(args.slice(1), { root, programs }))
const asJson = args.includes('--json')
const selected = args.filter((arg) => !arg.startsWith('--'))
const unknown = selected.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined) {
  process.stderr.write(`bench: unknown part '${unknown}' (parts: ${Object.keys(PARTS).join(', ')})\n`)
  process.exit(2)
}
let currentRig: Rig | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(currentRig?.close()).then(() => process.exit(1)))
}
const rows: ResultRow[] = []
for (const name of selected.length > 0 ? selected : Object.keys(PARTS))
  rows.push(...(await runPart(name, { root, programs })))
process.stdout.write(asJson ? `${JSON.stringify(rows, null, 2)}\n` : `\n${formatResults(rows)}\n`)
process.exit(rows.some((row) => row.pass === false) ? 1 : 0)

/** Runs a mix of calls against a service that it starts, or against services that already run. */
async function runLoadOnly(args: string[], folders: BenchFolders): Promise<number> {
  const rig = new Rig(folders)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void rig.close().then(() => process.exit(1)))
  }
  try {
    const { text, ok } = await runMixedLoad(rig, parseMixedLoadOptions(args))
    process.stdout.write(`${text}\n`)
    return ok ? 0 : 1
  } finally {
    await rig.close()
  }
}

/** A part that fails or times out becomes a failed row and does not end the benchmark. */
async function runPart(name: string, folders: BenchFolders): Promise<ResultRow[]> {
  const rig = new Rig(folders)
  currentRig = rig
  const start = performance.now()
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    const timeoutMs = TIMEOUTS_MS[name] ?? DEFAULT_TIMEOUT_MS
    timer = setTimeout(() => reject(new Error(`took longer than ${timeoutMs / 1000} s`)), timeoutMs)
  })
  try {
    const partRows = await Promise.race([PARTS[name]?.(rig) ?? [], timeout])
    process.stderr.write(`bench: ${name} took ${((performance.now() - start) / 1000).toFixed(0)} s\n`)
    return partRows
  } catch (error) {
    process.stderr.write(`bench: ${name}: ${error instanceof Error ? error.stack : String(error)}\n`)
    const note = String(error).split('\n')[0] ?? ''
    return [{ name, unit: '', value: Number.NaN, baseline: null, ratio: null, target: '', pass: false, note }]
  } finally {
    clearTimeout(timer)
    await rig.close()
  }
}
