/** Runs the selected parts one after another, each against the bare baseline server. */
import { runMixedLoad, parseMixedLoadOptions } from './mixed-load.ts'
import { boot } from './parts/boot.ts'
import { create, get } from './parts/create.ts'
import { filters } from './parts/filters.ts'
import { decision, workflow } from './parts/approvals.ts'
import { crowd, replicaDecision, replicaDelivery, replicaTasks } from './parts/postgres.ts'
import { ownCell, provisioning, tasks } from './parts/runs.ts'
import { append, delivery, idle, replay, throughput } from './parts/streams.ts'
import { surface } from './parts/reports.ts'
import { type ResultRow, formatResults } from './results.ts'
import { type BenchFolders, Rig } from './rig.ts'

const PARTS: Record<string, (rig: Rig) => Promise<ResultRow[]>> = {
  create,
  get,
  delivery,
  append,
  throughput,
  replay,
  idle,
  boot,
  provisioning,
  tasks,
  'own-cell': ownCell,
  decision,
  workflow,
  surface,
  filters,
  'pg-delivery': replicaDelivery,
  'pg-decision': replicaDecision,
  'pg-tasks': replicaTasks,
  crowd,
}

/** For parts with many rounds, and for those that fill a store first. */
const TIMEOUTS_MS: Record<string, number> = {
  append: 120_000,
  throughput: 120_000,
  surface: 300_000,
  filters: 300_000,
  'pg-delivery': 120_000,
  'pg-decision': 150_000,
  'pg-tasks': 120_000,
  crowd: 180_000,
}
const DEFAULT_TIMEOUT_MS = 60_000

const [root = '.', programs = '.', ...words] = process.argv.slice(2)
if (words[0] === 'load') process.exit(await loadOnly(words.slice(1), { root, programs }))
const asJson = words.includes('--json')
const selected = words.filter((word) => !word.startsWith('--'))
const unknown = selected.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined) {
  process.stderr.write(`bench: unknown part '${unknown}' (parts: ${Object.keys(PARTS).join(', ')})\n`)
  process.exit(2)
}
let open: Rig | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(open?.close()).then(() => process.exit(1)))
}
const rows: ResultRow[] = []
for (const name of selected.length > 0 ? selected : Object.keys(PARTS))
  rows.push(...(await runPart(name, { root, programs })))
process.stdout.write(asJson ? `${JSON.stringify(rows, null, 2)}\n` : `\n${formatResults(rows)}\n`)
process.exit(rows.some((row) => row.pass === false) ? 1 : 0)

/** Runs a mix of calls against a service that it starts, or against services that already run. */
async function loadOnly(words: string[], folders: BenchFolders): Promise<number> {
  const rig = new Rig(folders)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void rig.close().then(() => process.exit(1)))
  }
  try {
    const { text, ok } = await runMixedLoad(rig, parseMixedLoadOptions(words))
    process.stdout.write(`${text}\n`)
    return ok ? 0 : 1
  } finally {
    await rig.close()
  }
}

/** A part that fails or times out becomes a failed row and does not end the benchmark. */
async function runPart(name: string, folders: BenchFolders): Promise<ResultRow[]> {
  const rig = new Rig(folders)
  open = rig
  const start = performance.now()
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    const timeoutMs = TIMEOUTS_MS[name] ?? DEFAULT_TIMEOUT_MS
    timer = setTimeout(() => reject(new Error(`took longer than ${timeoutMs / 1000} s`)), timeoutMs)
  })
  try {
    const found = await Promise.race([PARTS[name]?.(rig) ?? [], timeout])
    process.stderr.write(`bench: ${name} took ${((performance.now() - start) / 1000).toFixed(0)} s\n`)
    return found
  } catch (error) {
    process.stderr.write(`bench: ${name}: ${error instanceof Error ? error.stack : String(error)}\n`)
    const note = String(error).split('\n')[0] ?? ''
    return [{ name, unit: '', value: Number.NaN, baseline: null, ratio: null, target: '', pass: false, note }]
  } finally {
    clearTimeout(timer)
    await rig.close()
  }
}
