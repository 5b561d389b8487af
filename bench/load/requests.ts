import { Connection } from './connection.ts'
import { median, type Target } from './statistics.ts'

/** Each client sends one request at a time until `ms` have passed. */
export async function sendRequests(
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
      const response = await connection.request(options.method, options.path, body)
      if (response.status !== options.expect)
        throw new Error(`${options.method} returned status ${response.status}: ${response.body.slice(0, 200)}`)
      times.push(performance.now() - sent)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: options.clients }, client))
  return { rate: times.length / ((performance.now() - start) / 1000), p50: median(times), done: times.length }
}

/** Each client creates a task and follows its stream until `task.finished`, until `ms` have passed. */
export async function runTasks(
  target: Target,
  options: { clients: number; ms: number; body: unknown; pause_ms?: number },
): Promise<{ rate: number; firstEventMs: number; startedMs: number; finishedMs: number; done: number }> {
  const body = JSON.stringify(options.body)
  const firstEventTimes: number[] = []
  const startTimes: number[] = []
  const finishTimes: number[] = []
  const start = performance.now()
  const client = async () => {
    const connection = new Connection(target)
    const streamConnection = new Connection(target)
    while (performance.now() - start < options.ms) {
      const sent = performance.now()
      const { id, created_at } = await postTask(connection, body)
      let log = ''
      let firstEventAt = 0
      await streamConnection.stream(`/v1/tasks/${id}/events`, 0, (chunk) => {
        log += chunk.toString('latin1')
        if (firstEventAt === 0 && log.includes('event: task.created')) firstEventAt = performance.now()
      })
      if (!log.includes('"status":"succeeded"')) throw new Error(`a run did not succeed: ${log.slice(-400)}`)
      firstEventTimes.push(firstEventAt - sent)
      startTimes.push(Date.parse(/"ts":"([^"]+)"/.exec(log)?.[1] ?? '') - Date.parse(created_at ?? ''))
      finishTimes.push(performance.now() - sent)
      if (options.pause_ms) await new Promise((resolve) => setTimeout(resolve, options.pause_ms))
    }
    connection.close()
    streamConnection.close()
  }
  await Promise.all(Array.from({ length: options.clients }, client))
  return {
    rate: finishTimes.length / ((performance.now() - start) / 1000),
    firstEventMs: median(firstEventTimes),
    startedMs: median(startTimes),
    finishedMs: median(finishTimes),
    done: finishTimes.length,
  }
}

export async function createTask(connection: Connection, body: string): Promise<string> {
  return (await postTask(connection, body)).id
}

/** The baseline server returns no `created_at`. */
async function postTask(connection: Connection, body: string): Promise<{ id: string; created_at?: string }> {
  const response = await connection.request('POST', '/v1/tasks', body)
  if (response.status !== 201)
    throw new Error(`creating a task returned status ${response.status}: ${response.body.slice(0, 200)}`)
  return JSON.parse(response.body) as { id: string; created_at?: string }
}
