import { z } from 'zod'
import { jsonValue } from '../http/validate.ts'
import { defineRead, nameRoutes } from '../http/route.ts'
import { taskInScope } from '../tasks/routes.ts'
import { MAX_CLIENTS_SHOWN, summariseAnalytics } from './analytics.ts'
import { listApprovalSums, listClientSums, listRunSums } from './rows.ts'
import { reportDays, toPeriodSum } from './periods.ts'
import { buildTrace } from './trace.ts'
import { readTraceEvents } from './trace-events.ts'

const count = z.number().int()
const AnalyticsView = z
  .object({
    days: count,
    from: z.string(),
    to: z.string(),
    runs: count,
    succeeded: count,
    failed: count,
    rejected: count,
    expired: count,
    cancelled: count,
    success_rate: z.number().meta({ description: 'Succeeded tasks among ended ones, from 0 to 1.' }),
    cost_usd: z.number(),
    median_approval_wait_s: z
      .number()
      .nullable()
      .meta({ description: 'Median time from request to decision, in seconds.' }),
    by_wedge: z.array(z.object({ wedge: z.string(), runs: count, success_rate: z.number(), cost_usd: z.number() })),
    by_day: z.array(z.object({ day: z.string(), runs: count, succeeded: count, cost_usd: z.number() })),
    by_client: z
      .array(z.object({ client_id: z.string(), runs: count, cost_usd: z.number() }))
      .meta({ description: 'The 100 clients with the highest cost.' }),
    approvals: z.object({
      requested: count,
      pending: count,
      auto_approved: count,
      approved: count,
      rejected: count,
      expired: count,
    }),
  })
  .meta({ id: 'Analytics' })

const TraceSpanView = z
  .object({
    span_id: z.string(),
    parent_id: z.string().nullable(),
    name: z.string(),
    kind: z.enum(['task', 'step', 'tool', 'model', 'approval']),
    status: z.enum(['running', 'ok', 'failed']),
    started_at: z.string(),
    ended_at: z.string().nullable(),
    duration_ms: z.number().nullable(),
    attributes: jsonValue,
    get children() {
      return z.array(TraceSpanView)
    },
  })
  .meta({ id: 'Span' })

export const reportRoutes = nameRoutes({
  getAnalytics: defineRead('/v1/analytics', {
    summary: 'Read analytics',
    description: 'Runs, success rate, cost and approval times of the last days (UTC), by the day a task was created.',
    query: z.object({
      days: z
        .string()
        .regex(/^([1-9]\d?|[12]\d\d|3[0-5]\d|36[0-5])$/, 'must be a whole number from 1 to 365')
        .meta({ type: 'integer', pattern: undefined, minimum: 1, maximum: 365 })
        .transform(Number)
        .default(30),
    }),
    responses: { 200: AnalyticsView },
    async handle({ ctx, scope, query }) {
      const now = ctx.world.clock.now()
      const days = reportDays(now, query.days)
      const range = { from: days[0] ?? '', to: days.at(-1) ?? '', periods: toPeriodSum(days) }
      const ranges = scope.projectIds.map((projectId) => ({ projectId, ...range }))
      const [runs, clients, approvals] = await Promise.all([
        Promise.all(ranges.map((range) => listRunSums(ctx.db, range))),
        Promise.all(ranges.map((range) => listClientSums(ctx.db, range, MAX_CLIENTS_SHOWN))),
        Promise.all(ranges.map((range) => listApprovalSums(ctx.db, range))),
      ])
      return summariseAnalytics(days, now, { runs: runs.flat(), clients: clients.flat(), approvals: approvals.flat() })
    },
  }),

  getTaskTrace: defineRead('/v1/tasks/:id/trace', {
    summary: 'Read the trace of a task',
    description: "A tree of spans, computed from the task's events.",
    responses: {
      200: z.object({
        task_id: z.string(),
        status: z.string(),
        root: TraceSpanView.nullable().meta({
          description: 'Null before the run starts and after its events were pruned.',
        }),
        log_pruned_at: z.string().nullable(),
      }),
    },
    find: taskInScope,
    async handle({ ctx, subject }) {
      const events = await readTraceEvents(ctx, subject.id)
      // A tree without its beginning would look like a short run.
      const whole = events[0]?.seq === 1 ? events : []
      // The row knows what the log of a run cannot tell yet, such as that it waits in the queue.
      const { status, log_pruned_at } = subject
      return { ...buildTrace(subject.id, whole), status, log_pruned_at }
    },
  }),
})
