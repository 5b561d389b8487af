import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { FrameView } from '../../platform/ctx/log-followers.ts'
import type { SseClient } from '../../platform/http/sse.ts'
import { retryUntilAvailable } from '../../platform/store/errors.ts'
import { toChunks, toPrunedFrame } from './event-frames.ts'
import { listEventPage, listLastEventIds } from './rows.ts'
import { StreamFollower } from './stream-follower.ts'

export interface FollowRequest {
  taskId: string
  /** The number of the last event that the caller has. */
  after: number
  /** Filters each event for a client; null for a founder, who sees everything. */
  view: FrameView | null
  /** The task had already ended when the stream was opened, so the stream ends with the log. */
  ended: boolean
}

/**
 * One loop for replay and live events: it sends pages of the log, then chunks as they are committed, each event exactly
 * once and in order. It ends after `task.finished`, or with an error frame for a client that is too far behind.
 */
export async function followTaskLog(
  ctx: Ctx,
  { taskId, after, view, ended }: FollowRequest,
  client: SseClient,
): Promise<void> {
  const follower = new StreamFollower(client, after, view)
  const unsubscribe = ctx.logFollowers.subscribe(taskId, follower)
  let finished = ended
  let hasLongEvents = false
  try {
    while (!follower.aborted) {
      // Collects before reading, so that events committed in between are not missed.
      follower.collect()
      const where = { task_id: taskId, after: follower.cursor }
      const page = await retryUntilAvailable(() => listEventPage(ctx.db, where, hasLongEvents), follower)
      hasLongEvents = page.hasLongEvents
      for (const chunk of toChunks(page.rows)) {
        if (client.isFull) break
        if (chunk.first > follower.cursor + 1) client.write(toPrunedFrame(taskId, chunk.first))
        finished ||= chunk.finished
        follower.send(chunk)
      }
      if (page.more || client.isFull) {
        await follower.waitToReadOn()
      } else if (finished) {
        return
      } else {
        ctx.logFollowers.markCaughtUp(taskId, follower.cursor)
        await follower.sendLive()
      }
    }
  } finally {
    unsubscribe()
  }
}

/** Sends the events that another replica has appended to the followers on this replica. */
export function catchUpFollowers(ctx: Ctx, taskId: string): Promise<void> {
  return ctx.logFollowers.catchUp(taskId, async (after) => {
    const { rows, more } = await listEventPage(ctx.db, { task_id: taskId, after })
    return { chunks: toChunks(rows), more }
  })
}

/**
 * Finds events whose hint from another replica was lost. One query covers all followed logs, so that idle
 * streams cost nothing.
 */
export async function catchUpAllFollowers(ctx: Ctx): Promise<void> {
  for (const { id, last_event_id } of await listLastEventIds(ctx.db, ctx.logFollowers.followedTaskIds())) {
    if (ctx.logFollowers.isBehind(id, last_event_id)) await catchUpFollowers(ctx, id)
  }
}
