import { median } from '../load/statistics.ts'
import { measureAlternating, costRow, goalRow, type PairedSamples, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, memoryOf, type Rig, type Server } from '../rig.ts'

const SAY = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }

/** Two replicas on one database: the first does the work, the second only serves. */
async function replicas(rig: Rig, env: Record<string, string> = {}): Promise<[Server, Server]> {
  const settings = { ...env, DATABASE_URL: await rig.database() }
  const working = await rig.service({ ...settings, SVC_MAX_CONCURRENT_TASKS: '32' })
  return [working, await rig.service({ ...settings, SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })]
}

const pacing = (rig: Rig) => ({
  SVC_AGENT_COMMAND: 'node /custom/pace.mjs',
  SVC_AGENT_DIR: rig.folders.programs,
})

/** Node compiles what it runs often; until then that takes the processor away from what is measured. */
const WARM_UP_ROUNDS = 8

/** From the agent's write at one replica to a follower's read at the other; beside it, at the same one. */
export async function replicaDelivery(rig: Rig): Promise<ResultRow[]> {
  const [working, other] = await replicas(rig, pacing(rig))
  const body = { ...SAY, input: { wait_ms: 600 } }
  const p99: PairedSamples = { service: [], bare: [] }
  const measure = async (at: Server, kept: number[]) => {
    const result = await rig.load('delivery', working, { body, at })
    kept.push(result.p99)
    return result.p50
  }
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await measure(other, [])
  const p50 = await measureAlternating(
    6,
    () => measure(other, p99.service),
    () => measure(working, p99.bare),
  )
  const note = 'PostgreSQL; in the column bare: the replica that runs the task'
  return [
    costRow('delivery from another replica p50', 'ms', p50, null, note),
    goalRow('delivery from another replica p99', 'ms', p99, { max: 25 }),
  ]
}

const PARKED = 100
const DECISIONS = 40

/** What it costs that the decision came to another replica than the one whose run waits for it. */
export async function replicaDecision(rig: Rig): Promise<ResultRow[]> {
  const [working, other] = await replicas(rig)
  const body = { ...SAY, task_type: 'ask' }
  const p50 = async (at: Server) =>
    (await rig.load('decide', working, { parked: PARKED, decisions: DECISIONS, body, at })).p50
  await p50(working)
  const pairs = await measureAlternating(
    4,
    () => p50(other),
    () => p50(working),
  )
  const more = pairs.service.map((ms, round) => ms - (pairs.bare[round] ?? Number.NaN))
  const note = `to the end of the run: ${median(pairs.service).toFixed(2)} ms, at its own replica ${median(pairs.bare).toFixed(2)}`
  return [goalRow('decision at another replica, more', 'ms', { service: more, bare: [] }, { max: 5 }, note)]
}

/** Whole tasks on PostgreSQL, beside a bare server with the same writes on the same PostgreSQL. */
export async function replicaTasks(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ DATABASE_URL: await rig.database(), SVC_MAX_CONCURRENT_TASKS: '32' })
  const bare = await rig.bare('warm', [process.execPath, rig.program('bare-worker')], await rig.database())
  const efforts = [new CpuCost(), new CpuCost()] as const
  const rate = async (server: Server, effort: CpuCost) => {
    const work = () => rig.load('runs', server, { clients: 32, ms: 2000, body: SAY })
    return (await effort.spend(server, work, ({ done }) => done)).rate
  }
  for (const server of [service, bare]) await warmUp(rig, server)
  const pairs = await measureAlternating(
    8,
    () => rate(service, efforts[0]),
    () => rate(bare, efforts[1]),
  )
  return [rateRow('tasks on PostgreSQL, 32 clients', 'tasks/s', pairs, 0.6, cpuNote(...efforts))]
}

const ENOUGH = 6000
const PATIENCE_MS = 20_000

/** Until Node has compiled what runs often, which on a busy machine takes longer. */
async function warmUp(rig: Rig, server: Server): Promise<void> {
  const start = performance.now()
  for (let done = 0; done < ENOUGH && performance.now() - start < PATIENCE_MS; ) {
    done += (await rig.load('runs', server, { clients: 32, ms: 1000, body: SAY })).done
  }
}

const STREAMS = 5000
const FIRST = 100
const LINES = 8

/** Followers of a task that speaks, all on one replica: what each costs, and how soon the last of them hears. */
export async function crowd(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ ...pacing(rig), DATABASE_URL: await rig.database() })
  const task_id = await speaking(service)
  // The first hundred bring in the code and the buffers that later ones share.
  await rig.load('crowd', service, { task_id, count: FIRST })
  await rig.load('heard', service, { lines: 2 })
  const before = memoryOf(service.pid).own
  await rig.load('crowd', service, { task_id, count: STREAMS - FIRST })
  const times = await rig.load('heard', service, { lines: LINES })
  const each = ((memoryOf(service.pid).own - before) * 1024) / (STREAMS - FIRST)
  const note = `each line to all ${STREAMS}: p50 ${times.p50.toFixed(1)} ms, p99 ${times.p99.toFixed(1)} ms`
  return [goalRow(`live stream, of ${STREAMS}`, 'KB', { service: [each], bare: [] }, { max: 20 }, note)]
}

async function speaking({ port, key }: Server): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...SAY, input: { lines: 200, every_ms: 1000 } }),
  })
  return ((await answer.json()) as { id: string }).id
}
