import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { median } from '../load/statistics.ts'
import { measureAlternating, costRow, goalRow, type PairedSamples, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, type Rig, type Server } from '../rig.ts'

const BODY = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }
const OWN_CELL = { ...BODY, wedge: 'workshop' }

const bareWorkerCommand = (rig: Rig) => [rig.node, rig.program('bare-worker')]

/** Whole tasks with the rehearsal model in a shared cell: created over HTTP and followed until they finish. */
export async function measureTasks(rig: Rig): Promise<ResultRow[]> {
  // One slot for each client, because the baseline has no limit.
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '32' })
  const bare = await rig.bare('warm', bareWorkerCommand(rig))
  await warmUp(rig, [service, bare])
  const rows: ResultRow[] = []
  for (const clients of [1, 32]) {
    const finishTimes: PairedSamples = { service: [], bare: [] }
    const costs = [new CpuCost(), new CpuCost()] as const
    const rate = async (server: Server, times: number[], cost: CpuCost) => {
      const work = () => rig.load('runTasks', server, { clients, ms: 1200, body: BODY })
      const result = await cost.measure(server, work, ({ done }) => done)
      times.push(result.finishedMs)
      return result.rate
    }
    const pairs = await measureAlternating(
      6,
      () => rate(service, finishTimes.service, costs[0]),
      () => rate(bare, finishTimes.bare, costs[1]),
    )
    const times = `create to finished p50 ${median(finishTimes.service).toFixed(2)} ms, bare ${median(finishTimes.bare).toFixed(2)}`
    rows.push(
      rateRow(
        `tasks, ${clients} client${clients > 1 ? 's' : ''}`,
        'tasks/s',
        pairs,
        0.6,
        `${times}; ${cpuNote(...costs)}`,
      ),
    )
  }
  return rows
}

/** Until Node has compiled the hot code, the same work costs several times as much. */
async function warmUp(rig: Rig, servers: Server[]): Promise<void> {
  for (const server of servers) await rig.load('runTasks', server, { clients: 32, ms: 10_000, body: BODY })
}

/** Tasks that may run commands. Each gets a new sandbox that was started in advance. */
export async function measureOwnCell(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service()
  const bare = await rig.bare('fresh', bareWorkerCommand(rig))
  const costs = [new CpuCost(), new CpuCost()] as const
  const rate = async (server: Server, cost: CpuCost) => {
    const work = () => rig.load('runTasks', server, { clients: 8, ms: 2500, body: OWN_CELL })
    return (await cost.measure(server, work, ({ done }) => done)).rate
  }
  await rate(service, new CpuCost())
  const pairs = await measureAlternating(
    3,
    () => rate(service, costs[0]),
    () => rate(bare, costs[1]),
  )
  return [rateRow('tasks with a cell of their own, 8 clients', 'tasks/s', pairs, 0.8, cpuNote(...costs))]
}

/** The time until a task starts to run, in a warm cell and in a cell that must be started. */
export async function measureProvisioning(rig: Rig): Promise<ResultRow[]> {
  const bare = await rig.bare('warm', bareWorkerCommand(rig))
  const warm = await rig.service()
  const firstEventMs = async (server: Server, body: object, pause_ms: number, ms = 1200) =>
    (await rig.load('runTasks', server, { clients: 1, ms, body, pause_ms })).firstEventMs
  await warmUp(rig, [warm, bare])
  const shared = await measureAlternating(
    3,
    () => firstEventMs(warm, BODY, 2),
    () => firstEventMs(bare, BODY, 2),
  )
  await firstEventMs(warm, OWN_CELL, 300)
  const { startedMs, firstEventMs: seenMs } = await rig.load('runTasks', warm, {
    clients: 1,
    ms: 3000,
    body: OWN_CELL,
    pause_ms: 300,
  })
  const own = { service: [startedMs], bare: [] }
  await rig.stop(warm)
  const withoutPool = await rig.service({ SVC_POOL: '0' })
  await firstEventMs(withoutPool, BODY, 0, 300)
  const coldStart = async () =>
    (await firstEventMs(withoutPool, OWN_CELL, 20)) - (await firstEventMs(withoutPool, BODY, 5, 400))
  const cold = await measureAlternating(3, coldStart, () => measureBareStart(rig))
  const sharedNote = 'from the request to the first event, which includes the claim'
  const ownNote = `from created_at to the stored time of task.created; from the request to the first event: ${seenMs.toFixed(2)} ms`
  return [
    goalRow('warm shared cell', 'ms', shared, { max: 5 }, sharedNote),
    goalRow('warm cell of its own', 'ms', own, { max: 5 }, ownNote),
    costRow('cold cell of its own', 'ms', cold, 1.5, 'more than in a shared cell; bare: node started with the bundle'),
  ]
}

/** The time in which Node starts and loads the bundle of the harness, without a sandbox. */
async function measureBareStart(rig: Rig): Promise<number> {
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
