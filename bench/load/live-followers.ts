import { Connection } from './connection.ts'
import { median, percentile, type Target } from './statistics.ts'

/** Many followers of one task whose agent writes a line with a timestamp every second. */
export interface FollowerGroup {
  connections: Connection[]
  /** When the last follower was connected; null until then. Earlier lines do not count. */
  completeAt: bigint | null
  times: number[]
  /** How many followers have received the line with each timestamp. */
  receivers: Map<string, number>
}

export async function openFollowers(
  target: Target,
  options: { task_id: string; count: number },
): Promise<FollowerGroup> {
  const group: FollowerGroup = { connections: [], completeAt: null, times: [], receivers: new Map() }
  while (group.connections.length < options.count) {
    const count = Math.min(100, options.count - group.connections.length)
    const added = Array.from({ length: count }, () => new Connection(target))
    await Promise.all(added.map((connection) => openStream(connection, options.task_id, group)))
    group.connections.push(...added)
  }
  group.completeAt = process.hrtime.bigint()
  return group
}

/** Resolves when the stream is open. */
function openStream(connection: Connection, taskId: string, group: FollowerGroup): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = connection.stream(`/v1/tasks/${taskId}/events`, 0, (chunk) => {
      resolve()
      recordLines(group, chunk)
    })
    ended.catch(reject)
  })
}

function recordLines(group: FollowerGroup, chunk: Buffer): void {
  if (group.completeAt === null) return
  const now = process.hrtime.bigint()
  for (const [, stamp = ''] of chunk.toString('latin1').matchAll(/"text":"at (\d+)"/g)) {
    if (BigInt(stamp) < group.completeAt) continue
    group.times.push(Number(now - BigInt(stamp)) / 1e6)
    group.receivers.set(stamp, (group.receivers.get(stamp) ?? 0) + 1)
  }
}

/** Waits until all followers of the newest group have received this many lines. */
export async function waitForLines(
  groups: readonly FollowerGroup[],
  lines: number,
): Promise<{ p50: number; p99: number }> {
  const group = groups.at(-1)
  if (!group) throw new Error('no followers are connected')
  const completeLines = () => [...group.receivers.values()].filter((count) => count === group.connections.length).length
  while (completeLines() < lines) await new Promise((resolve) => setTimeout(resolve, 50))
  return { p50: median(group.times), p99: percentile(group.times, 0.99) }
}
