import type { Ctx } from '../ctx/ctx.ts'
import type { Chunk, Seat } from '../ctx/tails.ts'
import { errorFrame } from '../http/sse.ts'
import { untilBack } from '../store/away.ts'
import { chunkOf, clientText, prunedFrame } from './frames.ts'
import { readEvents, readHeads } from './rows.ts'

export interface Following {
  taskId: string
  /** The number of the last event that the caller has. */
  after: number
  /** The event types that a client may see; null: the founder, who sees all. */
  types: ReadonlySet<string> | null
  /** The task had ended when the caller came: the stream ends where the log does. */
  ended: boolean
}

/**
 * One loop for replay and live: pages of the log until it is exhausted, then chunks as they are committed, each event
 * exactly once and in order. Ends after `task.finished`, or with an error frame for a reader that fell too far behind.
 */
export async function* follow(ctx: Ctx, following: Following, gone: AbortSignal): AsyncGenerator<Buffer | string> {
  const seat = ctx.tails.sit(following.taskId)
  const wake = () => seat.wake()
  gone.addEventListener('abort', wake, { once: true })
  try {
    yield* replayThenLive(ctx, following, seat, gone)
  } finally {
    gone.removeEventListener('abort', wake)
    seat.leave()
  }
}

async function* replayThenLive(
  ctx: Ctx,
  { taskId, after, types, ended }: Following,
  seat: Seat,
  gone: AbortSignal,
): AsyncGenerator<Buffer | string> {
  let cursor = after
  let finished = ended
  while (!gone.aborted) {
    // Listen before reading: what is committed in between waits in the seat instead of slipping through.
    seat.listen()
    const page = { task_id: taskId, after: cursor }
    const rows = await untilBack(() => readEvents(ctx.db, page), gone)
    if (rows.length > 0) {
      seat.ignore()
      const chunk = chunkOf(rows)
      if (chunk.first > cursor + 1) yield prunedFrame(taskId, chunk.first)
      cursor = chunk.last
      finished ||= chunk.finished
      yield bytesFor(chunk, types, 0)
      continue
    }
    if (finished) return
    ctx.tails.reached(taskId, cursor)
    for await (const chunk of live(seat, cursor, gone)) {
      if (chunk === 'overflow') {
        yield errorFrame('stream overflow: reconnect with Last-Event-ID')
        return
      }
      yield bytesFor(chunk, types, cursor)
      cursor = chunk.last
      if (chunk.finished) return
    }
  }
}

/** Chunks that follow the cursor without a gap; returns when the log must be asked again. */
async function* live(seat: Seat, after: number, gone: AbortSignal): AsyncGenerator<Chunk | 'overflow'> {
  let cursor = after
  while (!gone.aborted) {
    for (const chunk of seat.take()) {
      if (chunk.last <= cursor) continue
      if (chunk.first > cursor + 1) return
      yield chunk
      cursor = chunk.last
    }
    if (seat.overflowed) {
      yield 'overflow'
      return
    }
    if ((await seat.waited()) === 'ask the log') return
  }
}

function bytesFor(chunk: Chunk, types: ReadonlySet<string> | null, cursor: number): Buffer | string {
  if (!types && chunk.first > cursor) return chunk.bytes
  return chunk.frames
    .filter((frame) => frame.seq > cursor && (!types || types.has(frame.type)))
    .map((frame) => (types ? clientText(frame) : frame.text))
    .join('')
}

/** Hands to those who follow a log here what another replica has appended to it. */
export function catchUp(ctx: Ctx, taskId: string): Promise<void> {
  return ctx.tails.catchUp(taskId, async (after) => {
    const rows = await readEvents(ctx.db, { task_id: taskId, after })
    return rows.length > 0 ? chunkOf(rows) : null
  })
}

/**
 * Looks once at all followed logs and catches up with those that grew: what a lost bell of another replica did not
 * tell. One question for everyone, so idle streams cost nothing each.
 */
export async function catchUpAll(ctx: Ctx): Promise<void> {
  for (const { id, last_event_id } of await readHeads(ctx.db, ctx.tails.taskIds())) {
    if (ctx.tails.lags(id, last_event_id)) await catchUp(ctx, id)
  }
}
