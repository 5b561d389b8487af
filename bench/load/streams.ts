import { Connection } from './connection.ts'
import { median, percentile, type Target } from './statistics.ts'
import { createTask } from './requests.ts'

const FINISHED = Buffer.from('event: task.finished')

/**
 * Many followers of one task whose agent waits until all are there and then floods. A follower that falls behind is
 * cut off by the service and comes back with the number of its last event, as browsers do.
 */
export async function follow(
  target: Target,
  options: { followers: number; body: unknown },
): Promise<{ rate: number; events: number; reconnects: number; task_id: string }> {
  const creating = new Connection(target)
  const id = await createTask(creating, JSON.stringify(options.body))
  let begun = 0
  let reconnects = 0
  const follower = async () => {
    let tail: Buffer = Buffer.alloc(0)
    let last = 0
    while (tail.indexOf(FINISHED) === -1) {
      const connection = new Connection(target)
      if (last > 0) reconnects++
      await connection.stream(`/v1/tasks/${id}/events`, last, (piece) => {
        // Only the end of the stream is looked at: to parse every frame would measure the client.
        tail = piece.length >= TAIL ? piece.subarray(-TAIL) : Buffer.concat([tail, piece]).subarray(-TAIL)
        if (begun === 0 && piece.indexOf('token.delta') !== -1) begun = performance.now()
      })
      connection.close()
      last = Number(/(?:[^]*\n)?id: (\d+)\n/.exec(tail.toString('latin1'))?.[1] ?? last)
    }
    return last
  }
  const ends = await Promise.all(Array.from({ length: options.followers }, follower))
  const seconds = (performance.now() - begun) / 1000
  creating.close()
  if (new Set(ends).size !== 1) throw new Error(`the followers saw different ends: ${[...new Set(ends)].join(', ')}`)
  const events = ends[0] ?? 0
  return { rate: (events * options.followers) / seconds, events, reconnects, task_id: id }
}

const TAIL = 2048

/** A flood that nobody follows: how fast it is stored, by the times in its log. */
export async function append(target: Target, options: { body: unknown }): Promise<{ rate: number; events: number }> {
  const connection = new Connection(target)
  const id = await createTask(connection, JSON.stringify(options.body))
  const isOver = async () =>
    /"status":"(succeeded|failed)"/.test((await connection.request('GET', `/v1/tasks/${id}`)).body)
  while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 50))
  let head = ''
  let tail = ''
  await connection.stream(`/v1/tasks/${id}/events`, 0, (piece) => {
    const text = piece.toString('latin1')
    if (head.length < TAIL) head += text
    tail = (tail + text).slice(-TAIL)
  })
  connection.close()
  const begun = Date.parse(/event: token\.delta\n.*?"ts":"([^"]+)"/.exec(head)?.[1] ?? '')
  const [, events = '0', ended = ''] = /id: (\d+)\nevent: task\.finished\n.*?"ts":"([^"]+)"/.exec(tail) ?? []
  return { rate: (Number(events) * 1000) / (Date.parse(ended) - begun), events: Number(events) }
}

/** From the moment that the agent writes a line until its event is here, or at another replica if one is named. */
export async function delivery(
  target: Target,
  options: { body: unknown; at?: Target },
): Promise<{ p50: number; p99: number; events: number }> {
  const creating = new Connection(target)
  const id = await createTask(creating, JSON.stringify(options.body))
  creating.close()
  const connection = new Connection(options.at ?? target)
  const times: number[] = []
  await connection.stream(`/v1/tasks/${id}/events`, 0, (piece) => {
    const now = process.hrtime.bigint()
    for (const [, at] of piece.toString('latin1').matchAll(/"text":"at (\d+)"/g)) {
      times.push(Number(now - BigInt(at ?? 0)) / 1e6)
    }
  })
  connection.close()
  return { p50: median(times), p99: percentile(times, 0.99), events: times.length }
}

/** Reads a whole log that is over, again and again. */
export async function replay(
  target: Target,
  options: { task_id: string; events: number; times: number },
): Promise<{ rate: number }> {
  const rates: number[] = []
  for (let n = 0; n < options.times; n++) {
    const connection = new Connection(target)
    let frames = 0
    let open = false
    const start = performance.now()
    await connection.stream(`/v1/tasks/${options.task_id}/events`, 0, (piece) => {
      frames += framesIn(piece, open)
      open = piece.at(-1) === NEWLINE
    })
    rates.push(frames / ((performance.now() - start) / 1000))
    connection.close()
    if (frames < options.events) throw new Error(`a replay had ${frames} events instead of ${options.events}`)
  }
  return { rate: median(rates) }
}

const NEWLINE = 0x0a

/** Frames end with an empty line; `open` says that the piece before ended with the first of its two newlines. */
function framesIn(piece: Buffer, open: boolean): number {
  let count = open && piece[0] === NEWLINE ? 1 : 0
  for (let at = piece.indexOf('\n\n'); at !== -1; at = piece.indexOf('\n\n', at + 2)) count++
  return count
}

/** Opens streams that have nothing to say and keeps them until the process is told otherwise. */
export async function openIdle(target: Target, options: { task_id: string; count: number }): Promise<Connection[]> {
  const open: Connection[] = []
  while (open.length < options.count) {
    const some = Array.from({ length: Math.min(100, options.count - open.length) }, () => new Connection(target))
    await Promise.all(some.map((connection) => greeted(connection, options.task_id)))
    open.push(...some)
  }
  return open
}

function greeted(connection: Connection, taskId: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.stream(`/v1/tasks/${taskId}/events`, 0, () => resolve()).catch(reject)
  })
}
