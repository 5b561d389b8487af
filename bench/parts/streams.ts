import { measureAlternating, costRow, goalRow, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, memoryOf, type Rig, type Server } from '../rig.ts'

/** The agent waits before its first line, so that all followers are connected. */
const WAIT_MS = 600

const taskBody = (events: number) => ({ wedge: 'bench', task_type: 'say', input: { events, wait_ms: WAIT_MS } })

async function startServersWithAgent(rig: Rig, agent: string): Promise<[Server, Server]> {
  const env = { SVC_AGENT_COMMAND: `node /custom/${agent}.mjs`, SVC_AGENT_DIR: rig.folders.programs }
  return [await rig.service(env), await rig.bare('agent', [process.execPath, rig.program(agent)])]
}

/** The time from the agent's write to the follower's read. */
export async function measureDelivery(rig: Rig): Promise<ResultRow[]> {
  const [service, bare] = await startServersWithAgent(rig, 'pace')
  const p99: { service: number[]; bare: number[] } = { service: [], bare: [] }
  const measure = async (server: Server, p99s: number[]) => {
    const result = await rig.load('measureDelivery', server, { body: taskBody(0) })
    p99s.push(result.p99)
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

/** The rate of stored events without followers. */
export async function measureAppend(rig: Rig): Promise<ResultRow[]> {
  const events = 30_000
  const { pairs, note } = await measureFlood(rig, async (server, cost) => {
    const work = () => rig.load('appendEvents', server, { body: taskBody(events) })
    const result = await cost.measure(server, work, () => events)
    if (result.events < events) throw new Error(`only ${result.events} of ${events} events were stored`)
    return result.rate
  })
  return [rateRow('events appended', 'events/s', pairs, 0.6, note)]
}

/** The rate of delivered events, each committed before it is sent. */
export async function measureThroughput(rig: Rig): Promise<ResultRow[]> {
  const rows: ResultRow[] = []
  for (const { followers, events } of [
    { followers: 1, events: 30_000 },
    { followers: 100, events: 10_000 },
  ]) {
    let reconnects = 0
    const { pairs, note } = await measureFlood(rig, async (server, cost) => {
      const work = () => rig.load('followTask', server, { followers, body: taskBody(events) })
      const result = await cost.measure(server, work, () => events)
      if (result.events < events) throw new Error(`only ${result.events} of ${events} events were delivered`)
      reconnects += result.reconnects
      return result.rate
    })
    const overflow = reconnects > 0 ? `; ${reconnects} reconnects after overflow` : ''
    const name = followers === 1 ? 'events through one stream' : `events to ${followers} followers`
    rows.push(rateRow(name, 'events/s', pairs, 0.6, `${note}${overflow}`))
  }
  return rows
}

/** Until Node has compiled the hot code, the same work costs several times as much. */
const WARM_UP_ROUNDS = 3

/** Measures both servers with an agent that writes at full speed. */
async function measureFlood(rig: Rig, rate: (server: Server, cost: CpuCost) => Promise<number>) {
  const [service, bare] = await startServersWithAgent(rig, 'flood')
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    for (const server of [service, bare]) await rate(server, new CpuCost())
  }
  const costs = [new CpuCost(), new CpuCost()] as const
  const pairs = await measureAlternating(
    8,
    () => rate(service, costs[0]),
    () => rate(bare, costs[1]),
  )
  return { pairs, note: cpuNote(...costs) }
}

const LONG_LOG_EVENTS = 100_000

export async function measureReplay(rig: Rig): Promise<ResultRow[]> {
  const [service, bare] = await startServersWithAgent(rig, 'flood')
  const createLongLog = async (server: Server) =>
    (await rig.load('followTask', server, { followers: 1, body: taskBody(LONG_LOG_EVENTS) })).task_id
  const tasks = new Map([
    [service, await createLongLog(service)],
    [bare, await createLongLog(bare)],
  ])
  const rate = async (server: Server) => {
    const options = { task_id: tasks.get(server) ?? '', events: LONG_LOG_EVENTS, times: 1 }
    return (await rig.load('replayLog', server, options)).rate
  }
  const pairs = await measureAlternating(
    3,
    () => rate(service),
    () => rate(bare),
  )
  return [goalRow('replay of 100,000 events', 'events/s', pairs, { min: 100_000 })]
}

const STREAMS = 2000

/** The memory that a stream without events costs the server. */
export async function measureIdleStreams(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const kbPerStream = async (server: Server) => {
    const task_id = await createQueuedTask(server)
    // The first streams allocate code and buffers that all streams share.
    await rig.load('openIdleStreams', server, { task_id, count: 100 })
    await settle()
    const before = memoryOf(server.pid).own
    await rig.load('openIdleStreams', server, { task_id, count: STREAMS })
    await settle()
    return ((memoryOf(server.pid).own - before) * 1024) / STREAMS
  }
  const pairs = { service: [await kbPerStream(service)], bare: [await kbPerStream(bare)] }
  return [goalRow(`idle stream, of ${STREAMS}`, 'KB', pairs, { max: 20 }, '5,000 streams in 100 MB')]
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 1500))

async function createQueuedTask({ port, key }: Server): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(taskBody(0)),
  })
  return ((await response.json()) as { id: string }).id
}
