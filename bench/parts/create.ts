import type { LoadKinds } from '../load/main.ts'
import { measureAlternating, rateRow, type ResultRow } from '../results.ts'
import { CpuCost, cpuNote, type Rig, type Server } from '../rig.ts'

const ROUND_MS = 1200
/** Node compiles hot code; until then the same work costs several times as much. */
const WARM_UP_MS = 6000
const BODY = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }

/** Tasks created per second, none of them run. */
export async function create(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const request = { method: 'POST', path: '/v1/tasks', body: BODY, expect: 201 }
  for (const server of [service, bare]) await rig.load('hammer', server, { ...request, clients: 32, ms: WARM_UP_MS })
  const rows: ResultRow[] = []
  for (const clients of [1, 32]) {
    const options = { ...request, clients, ms: ROUND_MS }
    const efforts = [new CpuCost(), new CpuCost()] as const
    const pairs = await measureAlternating(
      8,
      () => rateOf(rig, service, efforts[0], options),
      () => rateOf(rig, bare, efforts[1], options),
    )
    const name = `create, ${clients} client${clients > 1 ? 's' : ''}`
    rows.push(rateRow(name, 'tasks/s', pairs, 0.6, cpuNote(...efforts)))
  }
  return rows
}

/** One task read again and again, with a key. */
export async function get(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const efforts = [new CpuCost(), new CpuCost()] as const
  const rate = async (server: Server, effort: CpuCost) => {
    const path = `/v1/tasks/${await createOne(server)}`
    return rateOf(rig, server, effort, { clients: 32, ms: ROUND_MS, method: 'GET', path, expect: 200 })
  }
  for (const server of [service, bare]) {
    const path = `/v1/tasks/${await createOne(server)}`
    await rig.load('hammer', server, { clients: 32, ms: WARM_UP_MS, method: 'GET', path, expect: 200 })
  }
  const pairs = await measureAlternating(
    4,
    () => rate(service, efforts[0]),
    () => rate(bare, efforts[1]),
  )
  const note = `goal: 7,500/s on an idle machine; ${cpuNote(...efforts)}`
  return [rateRow('read a task, 32 clients', 'GET/s', pairs, null, note)]
}

async function rateOf(rig: Rig, server: Server, effort: CpuCost, options: Parameters<LoadKinds['hammer']>[1]) {
  const work = () => rig.load('hammer', server, options)
  return (await effort.spend(server, work, ({ done }) => done)).rate
}

async function createOne({ port, key }: Server): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(BODY),
  })
  return ((await answer.json()) as { id: string }).id
}
