import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../load/statistics.ts'
import { measureAlternating, costRow, type PairedSamples, type ResultRow } from '../results.ts'
import { memoryOf, type Rig, type Server } from '../rig.ts'

const IDLE_MS = 1500

/** The time from the start of the process to the first response of /health, and the memory of an idle process. */
export async function measureBoot(rig: Rig): Promise<ResultRow[]> {
  const dataDir = mkdtempSync(join(rig.dir, 'data-'))
  const withoutCells = { SVC_POOL: '0' }
  const first = await rig.service(withoutCells, dataDir)
  await rig.stop(first)
  const memory: PairedSamples = { service: [], bare: [] }
  const times = await measureAlternating(
    4,
    () => bootOnce(rig, () => rig.service(withoutCells, dataDir), memory.service),
    () => bootOnce(rig, () => rig.bare(), memory.bare),
  )
  const withCells = await rig.service()
  await pause()
  const { own, all } = memoryOf(withCells.pid)
  const cells: PairedSamples = { service: [all], bare: [median(memory.bare)] }
  return [
    costRow('boot to /health', 'ms', times, 4, `first start, with the schema: ${first.bootMs.toFixed(0)} ms`),
    costRow('idle memory', 'MB', memory, 2, 'without cells'),
    costRow(
      'idle memory with cells',
      'MB',
      cells,
      null,
      `the service alone ${own.toFixed(0)} MB; shared pages count twice`,
    ),
  ]
}

async function bootOnce(rig: Rig, start: () => Promise<Server>, memory: number[]): Promise<number> {
  const server = await start()
  await pause()
  memory.push(memoryOf(server.pid).own)
  await rig.stop(server)
  return server.bootMs
}

const pause = () => new Promise((resolve) => setTimeout(resolve, IDLE_MS))
