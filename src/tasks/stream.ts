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
  read: { 'Last-Event-ID': 'the number of the last event that you have received; takes precedence over `lastEventId`' },
}

/** The log of a task as SSE after the last received event. Browsers send that number as a header when they reconnect. */
export function streamTask(
  ctx: Ctx,
  task: TaskHead,
  request: FastifyRequest,
  query: z.infer<typeof TaskStreamQuery>,
  view: FrameView | null,
): StreamResponse {
  // A number beyond the end of the log is invalid: the reader would wait for an event that may never be written.
  const after = Math.min(parseLastEventId(request.headers['last-event-id'] ?? query.lastEventId), task.last_event_id)
  const following = { taskId: task.id, after, view, ended: isTerminalStatus(task.status) }
  return sseResponse(ctx.world.clock, ctx.config.sseKeepaliveMs, (client) => followTaskLog(ctx, following, client))
}

function parseLastEventId(value: string | string[] | undefined): number {
  if (value === undefined) return 0
  const id = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(id)) throw badRequest('last event id must be a whole number of at least 0')
  return id
}
