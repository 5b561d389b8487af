import type { Ctx } from '../ctx/ctx.ts'
import type { View } from '../ctx/tails.ts'
import type { Reader } from '../http/sse.ts'
import { untilBack } from '../store/away.ts'
import { Follower } from './follower.ts'
import { chunksOf, prunedFrame } from './frames.ts'
import { readHeads, readPage } from './rows.ts'

export interface Following {
  taskId: string
  /** The number of the last event that the caller has. */
  after: number
  /** How a client is shown each event; null: the founder, who sees all. */
  view: View | null
  /** The task had ended when the caller came: the stream ends where the log does. */
  ended: boolean
}

/**
 * One loop for replay and live: pages of the log until it is exhausted, then chunks as they are committed, each event
 * exactly once and in order. Ends after `task.finished`, or with an error frame for a reader that fell too far behind.
 */
export async function follow(ctx: Ctx, { taskId, after, view, ended }: Following, reader: Reader): Promise<void> {
  const follower = new Follower(reader, after, view)
  const leave = ctx.tails.sit(taskId, follower)
  let finished = ended
  let long = false
  try {
    while (!follower.aborted) {
      // Listens before it reads: what is committed in between waits instead of slipping through.
      follower.listen()
      const where = { task_id: taskId, after: follower.cursor }
      const page = await untilBack(() => readPage(ctx.db, where, long), follower)
      long = page.long
      for (const chunk of chunksOf(page.rows)) {
        if (reader.isFull) break
        if (chunk.first > follower.cursor + 1) reader.write(prunedFrame(taskId, chunk.first))
        finished ||= chunk.finished
        follower.show(chunk)
      }
      if (page.more || reader.isFull) {
        await follower.readOn()
      } else if (finished) {
        return
      } else {
        ctx.tails.reached(taskId, follower.cursor)
        await follower.live()
      }
    }
  } finally {
    leave()
  }
}

/** Hands to those who follow a log here what another replica has appended to it. */
export function catchUp(ctx: Ctx, taskId: string): Promise<void> {
  return ctx.tails.catchUp(taskId, async (after) => {
    const { rows, more } = await readPage(ctx.db, { task_id: taskId, after })
    return { chunks: chunksOf(rows), more }
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
