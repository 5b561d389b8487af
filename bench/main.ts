/** Runs the parts that were asked for, one after another, each against the bare baseline. */
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
import { type Places, Rig } from './rig.ts'

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

/** What has many rounds, and what fills a store first. */
const MOST_MS: Record<string, number> = {
  append: 120_000,
  throughput: 120_000,
  surface: 300_000,
  filters: 300_000,
  'pg-delivery': 120_000,
  'pg-decision': 150_000,
  'pg-tasks': 120_000,
  crowd: 180_000,
}
const MOST_MS_ELSE = 60_000

const [root = '.', programs = '.', ...words] = process.argv.slice(2)
if (words[0] === 'load') process.exit(await loadOnly(words.slice(1), { root, programs }))
const asJson = words.includes('--json')
const asked = words.filter((word) => !word.startsWith('--'))
const unknown = asked.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined) {
  process.stderr.write(`bench: there is no part '${unknown}'; the parts are ${Object.keys(PARTS).join(', ')}\n`)
  process.exit(2)
}
let open: Rig | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(open?.close()).then(() => process.exit(1)))
}
const rows: ResultRow[] = []
for (const name of asked.length > 0 ? asked : Object.keys(PARTS))
  rows.push(...(await runPart(name, { root, programs })))
process.stdout.write(asJson ? `${JSON.stringify(rows, null, 2)}\n` : `\n${formatResults(rows)}\n`)
process.exit(rows.some((row) => row.pass === false) ? 1 : 0)

/** A mix of calls on a service that is started or named, for as long as it is told. */
async function loadOnly(words: string[], places: Places): Promise<number> {
  const rig = new Rig(places)
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

/** A part that breaks or takes too long is a row that fails, not the end of the benchmark. */
async function runPart(name: string, places: Places): Promise<ResultRow[]> {
  const rig = new Rig(places)
  open = rig
  const start = performance.now()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const most = MOST_MS[name] ?? MOST_MS_ELSE
    timer = setTimeout(() => reject(new Error(`took longer than ${most / 1000} s`)), most)
  })
  try {
    const found = await Promise.race([PARTS[name]?.(rig) ?? [], late])
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
