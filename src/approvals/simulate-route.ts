import { z } from 'zod'
import { PolicyRule } from '../base/wedge.ts'
import { write, nameRoutes } from '../http/route.ts'
import { constraintsOf } from '../tasks/record.ts'
import { wedgeAt } from '../wedges/enabled.ts'
import { APPROVAL_STATUSES, proposedPayload } from './record.ts'
import { type PastApproval, pastApprovals } from './rows.ts'
import { type PastRequest, simulate } from './simulate.ts'

const MOST = 1000

const Simulation = z.object({
  checked: z.number().int(),
  would_pass: z.number().int(),
  would_gate: z.number().int(),
  results: z.array(
    z.object({
      approval_id: z.string(),
      action: z.string(),
      status: z.enum(APPROVAL_STATUSES),
      would: z.enum(['pass', 'gate']),
      reason: z.string(),
      created_at: z.string(),
    }),
  ),
})

export const policyRoutes = nameRoutes({
  /** Writes nothing: a question about the past, asked by POST because rules do not fit into a query. */
  simulatePolicy: write('POST', '/v1/wedges/:wedge/policy/simulate', {
    summary: 'Replay the newest approvals, oldest first, against proposed rules',
    body: z.object({
      auto_approve: z.array(PolicyRule).max(200),
      limit: z.number().int().min(1).max(MOST).default(MOST),
    }),
    answers: { 200: Simulation },
    find: ({ ctx, params }) => wedgeAt(ctx, params.wedge ?? ''),
    async handle({ ctx, scope, subject: wedge, body }) {
      const past = await pastApprovals(ctx.db, scope.projectId, wedge.slug, body.limit)
      const answers = simulate(body.auto_approve, past.map(asRequest))
      const results = past.flatMap(({ id: approval_id, action, status, created_at }, i) => {
        const said = answers[i]
        return said ? [{ approval_id, action, status, ...said, created_at }] : []
      })
      const would_pass = results.filter(({ would }) => would === 'pass').length
      return { checked: results.length, would_pass, would_gate: results.length - would_pass, results }
    },
  }),
})

function asRequest(row: PastApproval): PastRequest {
  return {
    taskId: row.task_id,
    action: row.action,
    payload: proposedPayload(row),
    createdAt: row.created_at,
    approvalRequired: constraintsOf(row).approval_required,
  }
}
