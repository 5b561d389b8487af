import { alternate, rateRow, type Row } from '../result.ts'
import type { Rig } from '../rig.ts'

const ROUND_MS = 1200
const BODY = { wedge: 'bench', task_type: 'say', input: { text: 'hello' } }

/** Tasks created per second, none of them run. */
export async function create(rig: Rig): Promise<Row[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const rows: Row[] = []
  for (const clients of [1, 32]) {
    const options = { clients, ms: ROUND_MS, method: 'POST', path: '/v1/tasks', body: BODY, expect: 201 }
    const rate = async (server: typeof service) => (await rig.load('hammer', server, options)).rate
    const pairs = await alternate(
      4,
      () => rate(service),
      () => rate(bare),
    )
    rows.push(rateRow(`create, ${clients} client${clients > 1 ? 's' : ''}`, 'tasks/s', pairs, 0.6))
  }
  return rows
}

/** One task read again and again, with a key. */
export async function get(rig: Rig): Promise<Row[]> {
  const service = await rig.service({ SVC_MAX_CONCURRENT_TASKS: '0', SVC_POOL: '0' })
  const bare = await rig.bare()
  const rate = async (server: typeof service) => {
    const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${server.port}/v1/tasks`
    const { id } = (await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(BODY) })).json()) as {
      id: string
    }
    const options = { clients: 32, ms: ROUND_MS, method: 'GET', path: `/v1/tasks/${id}`, expect: 200 }
    return (await rig.load('hammer', server, options)).rate
  }
  const pairs = await alternate(
    4,
    () => rate(service),
    () => rate(bare),
  )
  return [rateRow('read a task, 32 clients', 'GET/s', pairs, null, 'goal: 7,500/s on an idle machine')]
}
