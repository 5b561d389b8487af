import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { badRequest } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { FrameView } from '../ctx/log-followers.ts'
import { followTaskLog } from '../events/follow-log.ts'
import type { RouteHeaders, StreamResponse } from '../http/route.ts'
import { sseResponse } from '../http/sse.ts'
import type { TaskHead } from './rows.ts'
import { isTerminalStatus } from './status.ts'

export const TaskStreamQuery = z.object({ lastEventId: z.string().optional() })

export const taskStreamHeaders: RouteHeaders = {
  read: { 'Last-Event-ID': 'the number of the last event that you have; it wins over `lastEventId`' },
}

/** The log of a task as SSE, from where the caller left off; the header wins, as browsers set it on reconnect. */
export function streamTask(
  ctx: Ctx,
  task: TaskHead,
  request: FastifyRequest,
  query: z.infer<typeof TaskStreamQuery>,
  view: FrameView | null,
): StreamResponse {
  // Nobody has seen an event that is not there yet: such a reader would wait for a number that may never come.
  const after = Math.min(parseLastEventId(request.headers['last-event-id'] ?? query.lastEventId), task.last_event_id)
  const following = { taskId: task.id, after, view, ended: isTerminalStatus(task.status) }
  return sseResponse(ctx.world.clock, ctx.config.sseKeepaliveMs, (reader) => followTaskLog(ctx, following, reader))
}

function parseLastEventId(value: string | string[] | undefined): number {
  if (value === undefined) return 0
  const id = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(id)) throw badRequest('last event id must be a whole number of at least 0')
  return id
}
