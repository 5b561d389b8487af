import type { Chunk, Frame } from '../ctx/tails.ts'
import type { Events } from '../store/tables.ts'

/** Rows as SSE frames. The payload is JSON text already and is not parsed again. */
export function chunkOf(rows: readonly Events[]): Chunk {
  const frames = rows.map(frameOf)
  return {
    first: rows[0]?.seq ?? 0,
    last: rows.at(-1)?.seq ?? 0,
    frames,
    bytes: Buffer.from(frames.map((frame) => frame.text).join('')),
    finished: rows.some((row) => row.type === 'task.finished'),
  }
}

/**
 * Stands where events were. Logs are numbered without a gap, so a reader that asks for what retention took is told, and
 * with which number the log goes on. It has no number of its own: it is no event.
 */
export const prunedFrame = (taskId: string, next: number): string =>
  `event: log.pruned\ndata: ${JSON.stringify({ task_id: taskId, next_event_id: next })}\n\n`

function frameOf({ task_id, seq, type, ts, data }: Events): Frame {
  const event = `{"id":${seq},"task_id":"${task_id}","seq":${seq},"type":"${type}","ts":"${ts}","data":${data}}`
  return { seq, type, text: `id: ${seq}\nevent: ${type}\ndata: ${event}\n\n` }
}
