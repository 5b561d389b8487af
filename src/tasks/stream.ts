import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { badRequest } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { View } from '../ctx/tails.ts'
import { follow } from '../events/follow.ts'
import type { Headers, StreamAnswer } from '../http/route.ts'
import { sse } from '../http/sse.ts'
import type { TaskHead } from './rows.ts'
import { isTerminal } from './status.ts'

export const StreamQuery = z.object({ lastEventId: z.string().optional() })

export const StreamHeaders: Headers = {
  read: { 'Last-Event-ID': 'the number of the last event that you have; it wins over `lastEventId`' },
}

/** The log of a task as SSE, from where the caller left off; the header wins, as browsers set it on reconnect. */
export function streamTask(
  ctx: Ctx,
  task: TaskHead,
  request: FastifyRequest,
  query: z.infer<typeof StreamQuery>,
  view: View | null,
): StreamAnswer {
  // Nobody has seen an event that is not there yet: such a reader would wait for a number that may never come.
  const after = Math.min(lastEventId(request.headers['last-event-id'] ?? query.lastEventId), task.last_event_id)
  const following = { taskId: task.id, after, view, ended: isTerminal(task.status) }
  return sse(ctx.world.clock, ctx.config.sseKeepaliveMs, (reader) => follow(ctx, following, reader))
}

function lastEventId(value: string | string[] | undefined): number {
  if (value === undefined) return 0
  const id = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(id)) throw badRequest('last event id must be a whole number of at least 0')
  return id
}
