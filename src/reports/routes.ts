import { z } from 'zod'
import { json } from '../http/judge.ts'
import { read, nameRoutes } from '../http/route.ts'
import { taskInScope } from '../tasks/routes.ts'
import { CLIENTS_SHOWN, summarise } from './analytics.ts'
import { approvalsIn, clientsIn, runsIn } from './rows.ts'
import { daysBefore, spansOf } from './spans.ts'
import { foldTrace } from './trace.ts'
import { eventsOfTrace } from './trace-events.ts'

const count = z.number().int()
const Analytics = z.object({
  days: count,
  from: z.string(),
  to: z.string(),
  runs: count,
  succeeded: count,
  failed: count,
  rejected: count,
  expired: count,
  cancelled: count,
  success_rate: z.number().meta({ description: 'succeeded of those that ended, from 0 to 1' }),
  cost_usd: z.number(),
  median_approval_wait_s: z.number().nullable().meta({ description: 'how long people took to decide' }),
  by_wedge: z.array(z.object({ wedge: z.string(), runs: count, success_rate: z.number(), cost_usd: z.number() })),
  by_day: z.array(z.object({ day: z.string(), runs: count, succeeded: count, cost_usd: z.number() })),
  by_client: z
    .array(z.object({ client_id: z.string(), runs: count, cost_usd: z.number() }))
    .meta({ description: 'the hundred dearest' }),
  approvals: z.object({
    requested: count,
    pending: count,
    auto_approved: count,
    approved: count,
    rejected: count,
    expired: count,
  }),
})

const Span = z
  .object({
    span_id: z.string(),
    parent_id: z.string().nullable(),
    name: z.string(),
    kind: z.enum(['task', 'step', 'tool', 'model', 'approval']),
    status: z.enum(['running', 'ok', 'failed']),
    started_at: z.string(),
    ended_at: z.string().nullable(),
    duration_ms: z.number().nullable(),
    attributes: json,
    get children() {
      return z.array(Span)
    },
  })
  .meta({ id: 'Span' })

export const reportRoutes = nameRoutes({
  getAnalytics: read('/v1/analytics', {
    summary: 'Runs, success, cost and approval waits of the last days (UTC), by the day a task was created',
    query: z.object({
      days: z
        .string()
        .regex(/^([1-9]\d?|[12]\d\d|3[0-5]\d|36[0-5])$/, 'must be a whole number from 1 to 365')
        .transform(Number)
        .default(30),
    }),
    answers: { 200: Analytics },
    async handle({ ctx, scope, query }) {
      const now = ctx.world.clock.now()
      const days = daysBefore(now, query.days)
      const range = { from: days[0] ?? '', to: days.at(-1) ?? '', spans: spansOf(days) }
      const ranges = scope.projectIds.map((projectId) => ({ projectId, ...range }))
      const [runs, clients, approvals] = await Promise.all([
        Promise.all(ranges.map((range) => runsIn(ctx.db, range))),
        Promise.all(ranges.map((range) => clientsIn(ctx.db, range, CLIENTS_SHOWN))),
        Promise.all(ranges.map((range) => approvalsIn(ctx.db, range))),
      ])
      return summarise(days, now, { runs: runs.flat(), clients: clients.flat(), approvals: approvals.flat() })
    },
  }),

  getTaskTrace: read('/v1/tasks/:id/trace', {
    summary: 'The run as a tree of spans, folded from its log',
    answers: {
      200: z.object({
        task_id: z.string(),
        status: z.string(),
        root: Span.nullable().meta({ description: 'null before the run began, and when its log was pruned' }),
        log_pruned_at: z.string().nullable(),
      }),
    },
    find: taskInScope,
    async handle({ ctx, subject }) {
      const events = await eventsOfTrace(ctx, subject.id)
      // A tree without its beginning would look like a short run.
      const whole = events[0]?.seq === 1 ? events : []
      // The row knows what the log of a run cannot tell yet, such as that it waits in the queue.
      const { status, log_pruned_at } = subject
      return { ...foldTrace(subject.id, whole), status, log_pruned_at }
    },
  }),
})
