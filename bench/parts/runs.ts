import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { median } from '../load/statistics.ts'
import { measureAlternating, costRow, goalRow, type PairedSamples, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, type Rig, type Server } from '../rig.ts'

const BODY = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }
const OWN_CELL = { ...BODY, wedge: 'workshop' }

const worker = (rig: Rig) => [process.execPath, rig.program('bare-worker')]

/** Whole tasks with the rehearsal model in a shared cell: created over HTTP, seen to finish on the stream. */
export async function tasks(rig: Rig): Promise<ResultRow[]> {
  // As many at a time as there are clients: the bare server has no limit either.
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '32' })
  const bare = await rig.bare('warm', worker(rig))
  await warmUp(rig, [service, bare])
  const rows: ResultRow[] = []
  for (const clients of [1, 32]) {
    const finished: PairedSamples = { service: [], bare: [] }
    const efforts = [new CpuCost(), new CpuCost()] as const
    const rate = async (server: Server, times: number[], effort: CpuCost) => {
      const work = () => rig.load('runs', server, { clients, ms: 1200, body: BODY })
      const result = await effort.spend(server, work, ({ done }) => done)
      times.push(result.finished)
      return result.rate
    }
    const pairs = await measureAlternating(
      6,
      () => rate(service, finished.service, efforts[0]),
      () => rate(bare, finished.bare, efforts[1]),
    )
    const times = `create to finished p50 ${median(finished.service).toFixed(2)} ms, bare ${median(finished.bare).toFixed(2)}`
    rows.push(
      rateRow(
        `tasks, ${clients} client${clients > 1 ? 's' : ''}`,
        'tasks/s',
        pairs,
        0.6,
        `${times}; ${cpuNote(...efforts)}`,
      ),
    )
  }
  return rows
}

/** Node compiles hot code; until then the same work costs several times as much. */
async function warmUp(rig: Rig, servers: Server[]): Promise<void> {
  for (const server of servers) await rig.load('runs', server, { clients: 32, ms: 10_000, body: BODY })
}

/** Tasks that may run commands, each in a fresh sandbox that was started ahead. */
export async function ownCell(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service()
  const bare = await rig.bare('fresh', worker(rig))
  const efforts = [new CpuCost(), new CpuCost()] as const
  const rate = async (server: Server, effort: CpuCost) => {
    const work = () => rig.load('runs', server, { clients: 8, ms: 2500, body: OWN_CELL })
    return (await effort.spend(server, work, ({ done }) => done)).rate
  }
  await rate(service, new CpuCost())
  const pairs = await measureAlternating(
    3,
    () => rate(service, efforts[0]),
    () => rate(bare, efforts[1]),
  )
  return [rateRow('tasks with a cell of their own, 8 clients', 'tasks/s', pairs, 0.8, cpuNote(...efforts))]
}

/** How soon a task has a place to run: in a cell that is warm, and in one that must be started. */
export async function provisioning(rig: Rig): Promise<ResultRow[]> {
  const bare = await rig.bare('warm', worker(rig))
  const warm = await rig.service()
  const first = async (server: Server, body: object, pause_ms: number, ms = 1200) =>
    (await rig.load('runs', server, { clients: 1, ms, body, pause_ms })).first
  await warmUp(rig, [warm, bare])
  const shared = await measureAlternating(
    3,
    () => first(warm, BODY, 2),
    () => first(bare, BODY, 2),
  )
  await first(warm, OWN_CELL, 300)
  const { begun, first: seen } = await rig.load('runs', warm, { clients: 1, ms: 3000, body: OWN_CELL, pause_ms: 300 })
  const own = { service: [begun], bare: [] }
  await rig.stop(warm)
  const unprepared = await rig.service({ SVC_POOL: '0' })
  await first(unprepared, BODY, 0, 300)
  const start = async () => (await first(unprepared, OWN_CELL, 20)) - (await first(unprepared, BODY, 5, 400))
  const cold = await measureAlternating(3, start, () => bareStart(rig))
  const bound = 'create sent to task.created seen: an upper bound of claim to task.created'
  const stamped = `the task's created_at to the time of task.created, as stored: the claim lies between; create sent to task.created seen: ${seen.toFixed(2)} ms`
  return [
    goalRow('warm shared cell', 'ms', shared, { max: 5 }, bound),
    goalRow('warm cell of its own', 'ms', own, { max: 5 }, stamped),
    costRow('cold cell of its own', 'ms', cold, 1.5, 'over a shared one; bare: node started with the bundle'),
  ]
}

/** A bare spawn of node that loads the bundle of the harness. */
async function bareStart(rig: Rig): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 15; n++) {
    const start = performance.now()
    const child = spawn(process.execPath, [join(rig.folders.root, 'dist/harness.cjs')], { env: {}, stdio: 'pipe' })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    times.push(performance.now() - start)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
  }
  return median(times)
}
