import type { EventChunk, EventFrame } from '../ctx/log-followers.ts'
import type { EventRow } from '../store/tables.ts'

/** About so many bytes, unless one event is longer: what is written is kept in memory until the reader takes it. */
const MAX_CHUNK_CHARACTERS = 256 * 1024

/**
 * Rows as SSE frames, in chunks that are written at once. The payload is JSON text already and is not parsed again.
 * Cut here and not by each reader, so that all of them share the bytes.
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
 * Stands where events were. Logs are numbered without a gap, so a reader that asks for what retention took is told, and
 * with which number the log goes on. It has no number of its own: it is no event.
 */
export const toPrunedFrame = (taskId: string, next: number): string =>
  `event: log.pruned\ndata: ${JSON.stringify({ task_id: taskId, next_event_id: next })}\n\n`

function toFrame({ task_id, seq, type, ts, data }: EventRow): EventFrame {
  const event = `{"id":${seq},"task_id":"${task_id}","seq":${seq},"type":"${type}","ts":"${ts}","data":${data}}`
  return { seq, type, text: `id: ${seq}\nevent: ${type}\ndata: ${event}\n\n` }
}
