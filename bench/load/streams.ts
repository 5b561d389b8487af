import { Connection } from './connection.ts'
import { median, percentile, type Target } from './statistics.ts'
import { createTask } from './requests.ts'

const FINISHED = Buffer.from('event: task.finished')

/**
 * Many followers of one task whose agent waits until all are connected and then writes at full speed. The service
 * disconnects a follower that falls behind; it reconnects with the number of its last event, as browsers do.
 */
export async function followTask(
  target: Target,
  options: { followers: number; body: unknown },
): Promise<{ rate: number; events: number; reconnects: number; task_id: string }> {
  const creating = new Connection(target)
  const id = await createTask(creating, JSON.stringify(options.body))
  let startedAt = 0
  let reconnects = 0
  const follower = async () => {
    let tail: Buffer = Buffer.alloc(0)
    let last = 0
    while (tail.indexOf(FINISHED) === -1) {
      const connection = new Connection(target)
      if (last > 0) reconnects++
      await connection.stream(`/v1/tasks/${id}/events`, last, (chunk) => {
        // Keeps only the end of the stream: parsing every frame would measure the client.
        tail =
          chunk.length >= TAIL_BYTES ? chunk.subarray(-TAIL_BYTES) : Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES)
        if (startedAt === 0 && chunk.indexOf('token.delta') !== -1) startedAt = performance.now()
      })
      connection.close()
      last = Number(/(?:[^]*\n)?id: (\d+)\n/.exec(tail.toString('latin1'))?.[1] ?? last)
    }
    return last
  }
  const ends = await Promise.all(Array.from({ length: options.followers }, follower))
  const seconds = (performance.now() - startedAt) / 1000
  creating.close()
  if (new Set(ends).size !== 1)
    throw new Error(`the followers received different last events: ${[...new Set(ends)].join(', ')}`)
  const events = ends[0] ?? 0
  return { rate: (events * options.followers) / seconds, events, reconnects, task_id: id }
}

const TAIL_BYTES = 2048

/** Runs a task without followers, and computes the rate of its events from the times in its log. */
export async function appendEvents(
  target: Target,
  options: { body: unknown },
): Promise<{ rate: number; events: number }> {
  const connection = new Connection(target)
  const id = await createTask(connection, JSON.stringify(options.body))
  const hasEnded = async () =>
    /"status":"(succeeded|failed)"/.test((await connection.request('GET', `/v1/tasks/${id}`)).body)
  while (!(await hasEnded())) await new Promise((resolve) => setTimeout(resolve, 50))
  let head = ''
  let tail = ''
  await connection.stream(`/v1/tasks/${id}/events`, 0, (chunk) => {
    const text = chunk.toString('latin1')
    if (head.length < TAIL_BYTES) head += text
    tail = (tail + text).slice(-TAIL_BYTES)
  })
  connection.close()
  const startedAt = Date.parse(/event: token\.delta\n.*?"ts":"([^"]+)"/.exec(head)?.[1] ?? '')
  const [, events = '0', ended = ''] = /id: (\d+)\nevent: task\.finished\n.*?"ts":"([^"]+)"/.exec(tail) ?? []
  return { rate: (Number(events) * 1000) / (Date.parse(ended) - startedAt), events: Number(events) }
}

/** The time from the agent's write of a line until a follower receives it, at the replica `at` if given. */
export async function measureDelivery(
  target: Target,
  options: { body: unknown; at?: Target },
): Promise<{ p50: number; p99: number; events: number }> {
  const creating = new Connection(target)
  const id = await createTask(creating, JSON.stringify(options.body))
  creating.close()
  const connection = new Connection(options.at ?? target)
  const times: number[] = []
  await connection.stream(`/v1/tasks/${id}/events`, 0, (chunk) => {
    const now = process.hrtime.bigint()
    for (const [, at] of chunk.toString('latin1').matchAll(/"text":"at (\d+)"/g)) {
      times.push(Number(now - BigInt(at ?? 0)) / 1e6)
    }
  })
  connection.close()
  return { p50: median(times), p99: percentile(times, 0.99), events: times.length }
}

/** Reads the complete log of a finished task several times. */
export async function replayLog(
  target: Target,
  options: { task_id: string; events: number; times: number },
): Promise<{ rate: number }> {
  const rates: number[] = []
  for (let n = 0; n < options.times; n++) {
    const connection = new Connection(target)
    let frames = 0
    let endsInNewline = false
    const start = performance.now()
    await connection.stream(`/v1/tasks/${options.task_id}/events`, 0, (chunk) => {
      frames += countFrames(chunk, endsInNewline)
      endsInNewline = chunk.at(-1) === NEWLINE
    })
    rates.push(frames / ((performance.now() - start) / 1000))
    connection.close()
    if (frames < options.events) throw new Error(`a replay had ${frames} events instead of ${options.events}`)
  }
  return { rate: median(rates) }
}

const NEWLINE = 0x0a

/** Frames end with an empty line. Its two newlines may be in two chunks: the flag says how the last chunk ended. */
function countFrames(chunk: Buffer, lastEndedInNewline: boolean): number {
  let count = lastEndedInNewline && chunk[0] === NEWLINE ? 1 : 0
  for (let at = chunk.indexOf('\n\n'); at !== -1; at = chunk.indexOf('\n\n', at + 2)) count++
  return count
}

/** Opens streams of a task that writes no events. They stay open until the process ends. */
export async function openIdleStreams(
  target: Target,
  options: { task_id: string; count: number },
): Promise<Connection[]> {
  const open: Connection[] = []
  while (open.length < options.count) {
    const added = Array.from({ length: Math.min(100, options.count - open.length) }, () => new Connection(target))
    await Promise.all(added.map((connection) => openStream(connection, options.task_id)))
    open.push(...added)
  }
  return open
}

/** Resolves when the stream is open. */
function openStream(connection: Connection, taskId: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.stream(`/v1/tasks/${taskId}/events`, 0, () => resolve()).catch(reject)
  })
}
