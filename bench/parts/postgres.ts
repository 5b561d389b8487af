import { median } from '../load/statistics.ts'
import { measureAlternating, costRow, goalRow, type PairedSamples, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, memoryOf, type Rig, type Server } from '../rig.ts'

const TASK = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }

/** Two replicas on one database: only the first runs tasks. */
async function startReplicas(rig: Rig, env: Record<string, string> = {}): Promise<[Server, Server]> {
  const settings = { ...env, DATABASE_URL: await rig.database() }
  const running = await rig.service({ ...settings, SVC_MAX_CONCURRENT_TASKS: '32' })
  return [running, await rig.service({ ...settings, SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })]
}

const paceAgent = (rig: Rig) => ({
  SVC_AGENT_COMMAND: 'node /custom/pace.mjs',
  SVC_AGENT_DIR: rig.folders.programs,
})

/** Until Node has compiled the hot code, the compiler competes with the measured work. */
const WARM_UP_ROUNDS = 8

/** The time from the agent's write to a follower's read at another replica, compared with the same replica. */
export async function measureReplicaDelivery(rig: Rig): Promise<ResultRow[]> {
  const [running, other] = await startReplicas(rig, paceAgent(rig))
  const body = { ...TASK, input: { wait_ms: 600 } }
  const p99: PairedSamples = { service: [], bare: [] }
  const measure = async (at: Server, p99s: number[]) => {
    const result = await rig.load('measureDelivery', running, { body, at })
    p99s.push(result.p99)
    return result.p50
  }
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await measure(other, [])
  const p50 = await measureAlternating(
    6,
    () => measure(other, p99.service),
    () => measure(running, p99.bare),
  )
  const note = 'PostgreSQL; in the column bare: the replica that runs the task'
  return [
    costRow('delivery from another replica p50', 'ms', p50, null, note),
    goalRow('delivery from another replica p99', 'ms', p99, { max: 25 }),
  ]
}

const WAITING = 100
const DECISIONS = 40

/** The additional time if a decision is sent to another replica than the one that runs the task. */
export async function measureReplicaDecision(rig: Rig): Promise<ResultRow[]> {
  const [running, other] = await startReplicas(rig)
  const body = { ...TASK, task_type: 'ask' }
  const p50 = async (at: Server) =>
    (await rig.load('decideApprovals', running, { waiting: WAITING, decisions: DECISIONS, body, at })).p50
  await p50(running)
  const pairs = await measureAlternating(
    4,
    () => p50(other),
    () => p50(running),
  )
  const additional = pairs.service.map((ms, round) => ms - (pairs.bare[round] ?? Number.NaN))
  const note = `to the end of the run: ${median(pairs.service).toFixed(2)} ms, at its own replica ${median(pairs.bare).toFixed(2)}`
  return [goalRow('decision at another replica, more', 'ms', { service: additional, bare: [] }, { max: 5 }, note)]
}

/** Whole tasks on PostgreSQL, compared with a baseline server that writes the same rows to the same PostgreSQL. */
export async function measureReplicaTasks(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ DATABASE_URL: await rig.database(), SVC_MAX_CONCURRENT_TASKS: '32' })
  const bare = await rig.bare('warm', [process.execPath, rig.program('bare-worker')], await rig.database())
  const costs = [new CpuCost(), new CpuCost()] as const
  const rate = async (server: Server, cost: CpuCost) => {
    const work = () => rig.load('runTasks', server, { clients: 32, ms: 2000, body: TASK })
    return (await cost.measure(server, work, ({ done }) => done)).rate
  }
  for (const server of [service, bare]) await warmUp(rig, server)
  const pairs = await measureAlternating(
    8,
    () => rate(service, costs[0]),
    () => rate(bare, costs[1]),
  )
  return [rateRow('tasks on PostgreSQL, 32 clients', 'tasks/s', pairs, 0.6, cpuNote(...costs))]
}

const WARM_UP_TASKS = 6000
const MAX_WARM_UP_MS = 20_000

/** Runs tasks until Node has compiled the hot code. The time is limited, because a busy machine needs longer. */
async function warmUp(rig: Rig, server: Server): Promise<void> {
  const start = performance.now()
  for (let done = 0; done < WARM_UP_TASKS && performance.now() - start < MAX_WARM_UP_MS; ) {
    done += (await rig.load('runTasks', server, { clients: 32, ms: 1000, body: TASK })).done
  }
}

const STREAMS = 5000
const WARM_UP_STREAMS = 100
const LINES = 8

/** Many followers of one running task on one replica: the memory of each, and the time until all have a line. */
export async function measureLiveStreams(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ ...paceAgent(rig), DATABASE_URL: await rig.database() })
  const task_id = await createPacedTask(service)
  // The first streams allocate code and buffers that all streams share.
  await rig.load('openFollowers', service, { task_id, count: WARM_UP_STREAMS })
  await rig.load('waitForLines', service, { lines: 2 })
  const before = memoryOf(service.pid).own
  await rig.load('openFollowers', service, { task_id, count: STREAMS - WARM_UP_STREAMS })
  const times = await rig.load('waitForLines', service, { lines: LINES })
  const kbPerStream = ((memoryOf(service.pid).own - before) * 1024) / (STREAMS - WARM_UP_STREAMS)
  const note = `each line to all ${STREAMS}: p50 ${times.p50.toFixed(1)} ms, p99 ${times.p99.toFixed(1)} ms`
  return [goalRow(`live stream, of ${STREAMS}`, 'KB', { service: [kbPerStream], bare: [] }, { max: 20 }, note)]
}

async function createPacedTask({ port, key }: Server): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...TASK, input: { lines: 200, every_ms: 1000 } }),
  })
  return ((await response.json()) as { id: string }).id
}
