import { Connection } from './connection.ts'
import { median, percentile, type Target } from './statistics.ts'

/** Many followers of one task whose agent stamps a line now and then; what came before all were there does not count. */
export interface Crowd {
  connections: Connection[]
  /** When the last of them was there; null until then. */
  complete: bigint | null
  times: number[]
  /** How many have heard the line of each stamp. */
  heardBy: Map<string, number>
}

export async function openCrowd(target: Target, options: { task_id: string; count: number }): Promise<Crowd> {
  const crowd: Crowd = { connections: [], complete: null, times: [], heardBy: new Map() }
  while (crowd.connections.length < options.count) {
    const some = Math.min(100, options.count - crowd.connections.length)
    const came = Array.from({ length: some }, () => new Connection(target))
    await Promise.all(came.map((connection) => join(connection, options.task_id, crowd)))
    crowd.connections.push(...came)
  }
  crowd.complete = process.hrtime.bigint()
  return crowd
}

/** Resolves with the first piece: the stream is open. */
function join(connection: Connection, taskId: string, crowd: Crowd): Promise<void> {
  return new Promise((resolve, reject) => {
    const open = connection.stream(`/v1/tasks/${taskId}/events`, 0, (piece) => {
      resolve()
      hear(crowd, piece)
    })
    open.catch(reject)
  })
}

function hear(crowd: Crowd, piece: Buffer): void {
  if (crowd.complete === null) return
  const now = process.hrtime.bigint()
  for (const [, stamp = ''] of piece.toString('latin1').matchAll(/"text":"at (\d+)"/g)) {
    if (BigInt(stamp) < crowd.complete) continue
    crowd.times.push(Number(now - BigInt(stamp)) / 1e6)
    crowd.heardBy.set(stamp, (crowd.heardBy.get(stamp) ?? 0) + 1)
  }
}

/** Waits until everyone in the newest crowd has heard so many lines. */
export async function heard(crowds: readonly Crowd[], lines: number): Promise<{ p50: number; p99: number }> {
  const crowd = crowds.at(-1)
  if (!crowd) throw new Error('nobody is there to hear')
  const byAll = () => [...crowd.heardBy.values()].filter((count) => count === crowd.connections.length).length
  while (byAll() < lines) await new Promise((resolve) => setTimeout(resolve, 50))
  return { p50: median(crowd.times), p99: percentile(crowd.times, 0.99) }
}
