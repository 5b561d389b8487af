import { z } from 'zod'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { FrameView } from '../../platform/ctx/log-followers.ts'
import { followTaskLog } from '../events/follow-log.ts'
import { findFinishedEventNumber } from '../events/rows.ts'
import {
  type HttpResponse,
  noContentResponse,
  type RequestHead,
  type RouteHeaders,
  type StreamResponse,
} from '../../platform/http/route.ts'
import { sseResponse } from '../../platform/http/sse.ts'
import type { TaskHead } from './rows.ts'
import { isTerminalStatus } from './status.ts'

/** At most the largest exact integer, 2^53 - 1. */
const EVENT_ID_BOUNDS = { pattern: '^[0-9]{1,16}$' }

export const TaskStreamQuery = z.object({
  lastEventId: z.string().meta(EVENT_ID_BOUNDS).optional(),
})

export const taskStreamHeaders: RouteHeaders = {
  read: {
    'Last-Event-ID': {
      description: 'the number of the last event that you have received; takes precedence over `lastEventId`',
      ...EVENT_ID_BOUNDS,
    },
  },
}

/**
 * The log of a task as SSE after the last received event. Browsers send that number as a header when they reconnect; 204
 * tells them that the task has ended and nothing is left, so that they stop reconnecting.
 */
export async function streamTask(
  ctx: Ctx,
  task: TaskHead,
  request: RequestHead,
  query: z.infer<typeof TaskStreamQuery>,
  view: FrameView | null,
): Promise<StreamResponse | HttpResponse> {
  // A number beyond the end of the log is invalid: the reader would wait for an event that may never be written.
  const after = Math.min(parseLastEventId(request.headers['last-event-id'] ?? query.lastEventId), task.last_event_id)
  const ended = isTerminalStatus(task.status)
  if (ended && after > 0 && after >= (await lastShownEventId(ctx, task, view))) return noContentResponse()
  const following = { taskId: task.id, after, view, ended }
  return sseResponse(ctx.world.clock, ctx.config.sseKeepaliveMs, (client) => followTaskLog(ctx, following, client))
}

/** Clients see no events after `task.finished`; founders see the feedback too. */
async function lastShownEventId(ctx: Ctx, task: TaskHead, view: FrameView | null): Promise<number> {
  if (view === null) return task.last_event_id
  const [finished] = await findFinishedEventNumber(ctx.db, { task_id: task.id })
  return finished?.seq ?? task.last_event_id
}

function parseLastEventId(value: string | string[] | undefined): number {
  if (value === undefined) return 0
  const id = typeof value === 'string' && new RegExp(EVENT_ID_BOUNDS.pattern).test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(id)) throw badRequest('last event id must be a whole number of at least 0')
  return id
}
