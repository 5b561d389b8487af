import type { LoadKinds } from '../load/main.ts'
import { measureAlternating, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, type Rig, type Server } from '../rig.ts'

const ROUND_MS = 1200
/** Until Node has compiled the hot code, the same work costs several times as much. */
const WARM_UP_MS = 6000
const BODY = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }

/** The rate of created tasks. The tasks do not run. */
export async function measureCreate(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const request = { method: 'POST', path: '/v1/tasks', body: BODY, expect: 201 }
  for (const server of [service, bare])
    await rig.load('sendRequests', server, { ...request, clients: 32, ms: WARM_UP_MS })
  const rows: ResultRow[] = []
  for (const clients of [1, 32]) {
    const options = { ...request, clients, ms: ROUND_MS }
    const costs = [new CpuCost(), new CpuCost()] as const
    const pairs = await measureAlternating(
      8,
      () => measureRate(rig, service, costs[0], options),
      () => measureRate(rig, bare, costs[1], options),
    )
    const name = `create, ${clients} client${clients > 1 ? 's' : ''}`
    rows.push(rateRow(name, 'tasks/s', pairs, 0.6, cpuNote(...costs)))
  }
  return rows
}

/** The rate of reads of one task. */
export async function measureRead(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const costs = [new CpuCost(), new CpuCost()] as const
  const rate = async (server: Server, cost: CpuCost) => {
    const path = `/v1/tasks/${await createTask(server)}`
    return measureRate(rig, server, cost, { clients: 32, ms: ROUND_MS, method: 'GET', path, expect: 200 })
  }
  for (const server of [service, bare]) {
    const path = `/v1/tasks/${await createTask(server)}`
    await rig.load('sendRequests', server, { clients: 32, ms: WARM_UP_MS, method: 'GET', path, expect: 200 })
  }
  const pairs = await measureAlternating(
    4,
    () => rate(service, costs[0]),
    () => rate(bare, costs[1]),
  )
  const note = `goal: 7,500/s on an idle machine; ${cpuNote(...costs)}`
  return [rateRow('read a task, 32 clients', 'GET/s', pairs, null, note)]
}

async function measureRate(rig: Rig, server: Server, cost: CpuCost, options: Parameters<LoadKinds['sendRequests']>[1]) {
  const work = () => rig.load('sendRequests', server, options)
  return (await cost.measure(server, work, ({ done }) => done)).rate
}

async function createTask({ port, key }: Server): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(BODY),
  })
  return ((await response.json()) as { id: string }).id
}
