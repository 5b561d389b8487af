import { z } from 'zod'
import { jsonValue } from '../../platform/http/validate.ts'

const count = z.number().int()
const successRate = z
  .number()
  .nullable()
  .meta({ description: 'Succeeded tasks among ended ones, from 0 to 1; null: none has ended.' })

export const AnalyticsView = z
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
    success_rate: successRate,
    cost_usd: z.number(),
    median_approval_wait_s: z
      .number()
      .nullable()
      .meta({ description: 'Median time from request to decision, in seconds.' }),
    by_wedge: z.array(z.object({ wedge: z.string(), runs: count, success_rate: successRate, cost_usd: z.number() })),
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

export const TraceSpanView = z
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

export const TaskTraceView = z
  .object({
    task_id: z.string(),
    status: z.string(),
    root: TraceSpanView.nullable().meta({
      description: 'Null before the run starts and after its events were pruned.',
    }),
    log_pruned_at: z.string().nullable(),
  })
  .meta({ id: 'Trace' })
