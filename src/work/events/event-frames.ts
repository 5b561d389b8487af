import type { EventChunk, EventFrame } from '../../platform/ctx/log-followers.ts'
import type { EventRow } from '../../platform/store/tables.ts'

/** A chunk is larger only if one event is. Limits the memory that a slow client holds. */
const MAX_CHUNK_CHARACTERS = 256 * 1024

/**
 * Rows as SSE frames, in chunks that are each one write. The stored data is JSON text and is not parsed again. All clients
 * share the bytes of a chunk.
 */
export function toChunks(rows: readonly EventRow[]): EventChunk[] {
  const chunks: EventChunk[] = []
  let frames: EventFrame[] = []
  let length = 0
  for (const row of rows) {
    const frame = toFrame(row)
    if (frames.length > 0 && length + frame.text.length > MAX_CHUNK_CHARACTERS) {
      chunks.push(toChunk(frames))
      frames = []
      length = 0
    }
    frames.push(frame)
    length += frame.text.length
  }
  if (frames.length > 0) chunks.push(toChunk(frames))
  return chunks
}

function toChunk(frames: EventFrame[]): EventChunk {
  return {
    first: frames[0]?.seq ?? 0,
    last: frames.at(-1)?.seq ?? 0,
    frames,
    bytes: Buffer.from(frames.map((frame) => frame.text).join('')),
    finished: frames.some((frame) => frame.type === 'task.finished'),
  }
}

/**
 * Sent in place of events that retention has deleted, with the number of the next event. It has no id, because it is not
 * an event of the log.
 */
export const toPrunedFrame = (taskId: string, next: number): string =>
  `event: log.pruned\ndata: ${JSON.stringify({ task_id: taskId, next_event_id: next })}\n\n`

function toFrame({ task_id, seq, type, ts, data }: EventRow): EventFrame {
  const event = `{"id":${seq},"task_id":"${task_id}","seq":${seq},"type":"${type}","ts":"${ts}","data":${data}}`
  return { seq, type, text: `id: ${seq}\nevent: ${type}\ndata: ${event}\n\n` }
}
