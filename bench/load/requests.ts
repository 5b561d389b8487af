import { Connection } from './connection.ts'
import { median, type Target } from './statistics.ts'

/** So many clients, each with one request at a time, for so long; answers with requests per second and their times. */
export async function hammer(
  target: Target,
  options: { clients: number; ms: number; method: string; path: string; body?: unknown; expect: number },
): Promise<{ rate: number; p50: number; done: number }> {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body)
  const times: number[] = []
  const start = performance.now()
  const client = async () => {
    const connection = new Connection(target)
    while (performance.now() - start < options.ms) {
      const sent = performance.now()
      const answer = await connection.request(options.method, options.path, body)
      if (answer.status !== options.expect) throw new Error(`answered ${answer.status}: ${answer.body.slice(0, 200)}`)
      times.push(performance.now() - sent)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: options.clients }, client))
  return { rate: times.length / ((performance.now() - start) / 1000), p50: median(times), done: times.length }
}

/** Whole runs: create over HTTP, follow the stream until `task.finished`. */
export async function runs(
  target: Target,
  options: { clients: number; ms: number; body: unknown; pause_ms?: number },
): Promise<{ rate: number; first: number; begun: number; finished: number; done: number }> {
  const body = JSON.stringify(options.body)
  const first: number[] = []
  const begun: number[] = []
  const finished: number[] = []
  const start = performance.now()
  const client = async () => {
    const creating = new Connection(target)
    const following = new Connection(target)
    while (performance.now() - start < options.ms) {
      const sent = performance.now()
      const { id, created_at } = await create(creating, body)
      let tail = ''
      let seen = 0
      await following.stream(`/v1/tasks/${id}/events`, 0, (piece) => {
        tail += piece.toString('latin1')
        if (seen === 0 && tail.includes('event: task.created')) seen = performance.now()
      })
      if (!tail.includes('"status":"succeeded"')) throw new Error(`a run did not succeed: ${tail.slice(-400)}`)
      first.push(seen - sent)
      begun.push(Date.parse(/"ts":"([^"]+)"/.exec(tail)?.[1] ?? '') - Date.parse(created_at ?? ''))
      finished.push(performance.now() - sent)
      if (options.pause_ms) await new Promise((resolve) => setTimeout(resolve, options.pause_ms))
    }
    creating.close()
    following.close()
  }
  await Promise.all(Array.from({ length: options.clients }, client))
  const rate = finished.length / ((performance.now() - start) / 1000)
  return { rate, first: median(first), begun: median(begun), finished: median(finished), done: finished.length }
}

export async function createTask(connection: Connection, body: string): Promise<string> {
  return (await create(connection, body)).id
}

/** The bare server does not say when. */
async function create(connection: Connection, body: string): Promise<{ id: string; created_at?: string }> {
  const answer = await connection.request('POST', '/v1/tasks', body)
  if (answer.status !== 201) throw new Error(`no task: ${answer.status} ${answer.body.slice(0, 200)}`)
  return JSON.parse(answer.body) as { id: string; created_at?: string }
}
