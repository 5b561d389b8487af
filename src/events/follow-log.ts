import type { Ctx } from '../ctx/ctx.ts'
import type { FrameView } from '../ctx/log-followers.ts'
import type { SseClient } from '../http/sse.ts'
import { retryUntilAvailable } from '../store/errors.ts'
import { StreamFollower } from './stream-follower.ts'
import { toChunks, toPrunedFrame } from './event-frames.ts'
import { listLastEventIds, listEventPage } from './rows.ts'

export interface FollowRequest {
  taskId: string
  /** The number of the last event that the caller has. */
  after: number
  /** How a client is shown each event; null: the founder, who sees all. */
  view: FrameView | null
  /** The task had ended when the caller came: the stream ends where the log does. */
  ended: boolean
}

/**
 * One loop for replay and live: pages of the log until it is exhausted, then chunks as they are committed, each event
 * exactly once and in order. Ends after `task.finished`, or with an error frame for a reader that fell too far behind.
 */
export async function followTaskLog(
  ctx: Ctx,
  { taskId, after, view, ended }: FollowRequest,
  reader: SseClient,
): Promise<void> {
  const follower = new StreamFollower(reader, after, view)
  const leave = ctx.logFollowers.subscribe(taskId, follower)
  let finished = ended
  let long = false
  try {
    while (!follower.aborted) {
      // Listens before it reads: what is committed in between waits instead of slipping through.
      follower.listen()
      const where = { task_id: taskId, after: follower.cursor }
      const page = await retryUntilAvailable(() => listEventPage(ctx.db, where, long), follower)
      long = page.long
      for (const chunk of toChunks(page.rows)) {
        if (reader.isFull) break
        if (chunk.first > follower.cursor + 1) reader.write(toPrunedFrame(taskId, chunk.first))
        finished ||= chunk.finished
        follower.show(chunk)
      }
      if (page.more || reader.isFull) {
        await follower.readOn()
      } else if (finished) {
        return
      } else {
        ctx.logFollowers.markCaughtUp(taskId, follower.cursor)
        await follower.live()
      }
    }
  } finally {
    leave()
  }
}

/** Hands to those who follow a log here what another replica has appended to it. */
export function catchUpFollowers(ctx: Ctx, taskId: string): Promise<void> {
  return ctx.logFollowers.catchUp(taskId, async (after) => {
    const { rows, more } = await listEventPage(ctx.db, { task_id: taskId, after })
    return { chunks: toChunks(rows), more }
  })
}

/**
 * Looks once at all followed logs and catches up with those that grew: what a lost bell of another replica did not
 * tell. One question for everyone, so idle streams cost nothing each.
 */
export async function catchUpAllFollowers(ctx: Ctx): Promise<void> {
  for (const { id, last_event_id } of await listLastEventIds(ctx.db, ctx.logFollowers.followedTaskIds())) {
    if (ctx.logFollowers.isBehind(id, last_event_id)) await catchUpFollowers(ctx, id)
  }
}
