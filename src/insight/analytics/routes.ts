import { z } from 'zod'
import { listFailedEffects } from '../../approvals/effects/effect-rows.ts'
import { defineRead, nameRoutes } from '../../platform/http/route.ts'
import { taskInScope } from '../../work/tasks/routes.ts'
import { readAnalytics } from './analytics.ts'
import { readNeedsYou } from '../needs-you/needs-you.ts'
import { NeedsYouView } from '../needs-you/needs-you-view.ts'
import { buildTrace } from '../traces/trace.ts'
import { readTraceEvents } from '../traces/trace-events.ts'
import { AnalyticsView, TaskTraceView } from './view.ts'

export const reportRoutes = nameRoutes({
  getNeedsYou: defineRead('/v1/needs-you', {
    summary: 'List everything that waits for a person',
    description:
      'Pending approvals and questions, clients without an answer, expired tasks, connections that lost their secret, failing connections, channels and schedules, and questions of runs. At most 50 of each kind; `counts` has all.',
    longRead: true,
    responses: { 200: NeedsYouView },
    handle: ({ ctx, scope }) => readNeedsYou(ctx, scope.projectIds),
  }),

  getAnalytics: defineRead('/v1/analytics', {
    summary: 'Read analytics',
    description:
      'Runs, success rate, cost and approval times of the last days (UTC), by the day a task was created. Questions are not counted.',
    query: z.object({
      days: z
        .string()
        .regex(/^([1-9]\d?|[12]\d\d|3[0-5]\d|36[0-5])$/, 'must be a whole number from 1 to 365')
        .meta({ type: 'integer', pattern: undefined, minimum: 1, maximum: 365 })
        .transform(Number)
        .default(30),
    }),
    longRead: true,
    responses: { 200: AnalyticsView },
    handle: ({ ctx, scope, query }) =>
      readAnalytics(ctx.db, scope.projectIds, { now: ctx.world.clock.now(), days: query.days }),
  }),

  getTaskTrace: defineRead('/v1/tasks/:id/trace', {
    summary: 'Read the trace of a task',
    description:
      "A tree of spans, computed from the task's events. An approval whose action failed, such as a reply that was not delivered, is failed.",
    responses: { 200: TaskTraceView },
    find: taskInScope,
    async handle({ ctx, subject }) {
      const events = await readTraceEvents(ctx, subject.id)
      // A tree without its beginning would look like a short run.
      const whole = events[0]?.seq === 1 ? events : []
      // The row knows what the log of a run cannot tell yet, such as that it waits in the queue.
      const { status, log_pruned_at } = subject
      const failed = await listFailedEffects(ctx.db, { task_id: subject.id })
      const failedActions = new Set(failed.map(({ id }) => id))
      return { ...buildTrace(subject.id, whole, failedActions), status, log_pruned_at }
    },
  }),
})
