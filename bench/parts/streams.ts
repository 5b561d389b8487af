import { measureAlternating, costRow, goalRow, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, memoryOf, type Rig, type Server } from '../rig.ts'

/** The agent waits so long before it speaks, until all followers are there. */
const WAIT_MS = 600

const body = (events: number) => ({ wedge: 'bench', task_type: 'say', input: { events, wait_ms: WAIT_MS } })

async function bothWithAgent(rig: Rig, agent: string): Promise<[Server, Server]> {
  const env = { SVC_AGENT_COMMAND: `node /custom/${agent}.mjs`, SVC_AGENT_DIR: rig.folders.programs }
  return [await rig.service(env), await rig.bare('agent', [process.execPath, rig.program(agent)])]
}

/** From the agent's write to the follower's read. */
export async function delivery(rig: Rig): Promise<ResultRow[]> {
  const [service, bare] = await bothWithAgent(rig, 'pace')
  const p99: { service: number[]; bare: number[] } = { service: [], bare: [] }
  const measure = async (server: Server, kept: number[]) => {
    const result = await rig.load('delivery', server, { body: body(0) })
    kept.push(result.p99)
    return result.p50
  }
  const p50 = await measureAlternating(
    4,
    () => measure(service, p99.service),
    () => measure(bare, p99.bare),
  )
  const note = 'agent writes, event committed, frame read'
  return [costRow('delivery p50', 'ms', p50, 2, note), costRow('delivery p99', 'ms', p99, null)]
}

/** What storing alone takes, while nobody follows. */
export async function append(rig: Rig): Promise<ResultRow[]> {
  const events = 30_000
  const { pairs, note } = await flooded(rig, async (server, effort) => {
    const work = () => rig.load('append', server, { body: body(events) })
    const result = await effort.spend(server, work, () => events)
    if (result.events < events) throw new Error(`only ${result.events} of ${events} events were stored`)
    return result.rate
  })
  return [rateRow('events appended', 'events/s', pairs, 0.6, note)]
}

/** Tokens at full speed, each committed before it is sent. */
export async function throughput(rig: Rig): Promise<ResultRow[]> {
  const rows: ResultRow[] = []
  for (const { followers, events } of [
    { followers: 1, events: 30_000 },
    { followers: 100, events: 10_000 },
  ]) {
    let reconnects = 0
    const { pairs, note } = await flooded(rig, async (server, effort) => {
      const work = () => rig.load('follow', server, { followers, body: body(events) })
      const result = await effort.spend(server, work, () => events)
      if (result.events < events) throw new Error(`only ${result.events} of ${events} events came`)
      reconnects += result.reconnects
      return result.rate
    })
    const overflow = reconnects > 0 ? `; ${reconnects} reconnects after overflow` : ''
    const name = followers === 1 ? 'events through one stream' : `events to ${followers} followers`
    rows.push(rateRow(name, 'events/s', pairs, 0.6, `${note}${overflow}`))
  }
  return rows
}

/** Node compiles hot code; until then the same work costs several times as much. */
const WARM_UP_ROUNDS = 3

/** Measures both with the agent that floods. */
async function flooded(rig: Rig, rate: (server: Server, effort: CpuCost) => Promise<number>) {
  const [service, bare] = await bothWithAgent(rig, 'flood')
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    for (const server of [service, bare]) await rate(server, new CpuCost())
  }
  const efforts = [new CpuCost(), new CpuCost()] as const
  const pairs = await measureAlternating(
    8,
    () => rate(service, efforts[0]),
    () => rate(bare, efforts[1]),
  )
  return { pairs, note: cpuNote(...efforts) }
}

const LONG_LOG = 100_000

export async function replay(rig: Rig): Promise<ResultRow[]> {
  const [service, bare] = await bothWithAgent(rig, 'flood')
  const longLog = async (server: Server) =>
    (await rig.load('follow', server, { followers: 1, body: body(LONG_LOG) })).task_id
  const tasks = new Map([
    [service, await longLog(service)],
    [bare, await longLog(bare)],
  ])
  const rate = async (server: Server) => {
    const options = { task_id: tasks.get(server) ?? '', events: LONG_LOG, times: 1 }
    return (await rig.load('replay', server, options)).rate
  }
  const pairs = await measureAlternating(
    3,
    () => rate(service),
    () => rate(bare),
  )
  return [goalRow('replay of 100,000 events', 'events/s', pairs, { min: 100_000 })]
}

const STREAMS = 2000

/** What a stream that has nothing to say costs the server. */
export async function idle(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const perStream = async (server: Server) => {
    const task_id = await queued(server)
    // A first hundred brings in the code and the buffers that later ones share.
    await rig.load('idle', server, { task_id, count: 100 })
    await settle()
    const before = memoryOf(server.pid).own
    await rig.load('idle', server, { task_id, count: STREAMS })
    await settle()
    return ((memoryOf(server.pid).own - before) * 1024) / STREAMS
  }
  const pairs = { service: [await perStream(service)], bare: [await perStream(bare)] }
  return [goalRow(`idle stream, of ${STREAMS}`, 'KB', pairs, { max: 20 }, '5,000 streams in 100 MB')]
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 1500))

async function queued({ port, key }: Server): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body(0)),
  })
  return ((await answer.json()) as { id: string }).id
}
