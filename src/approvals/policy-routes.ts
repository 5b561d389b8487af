import { z } from 'zod'
import { PolicyRule } from '../contract/wedge-manifest.ts'
import { defineWrite, nameRoutes } from '../http/route.ts'
import { parseTaskConstraints } from '../tasks/view.ts'
import { requirePathWedge } from '../wedges/enabled-wedges.ts'
import { listPastApprovals, type PastApproval } from './rows.ts'
import { type PastGatedRequest, simulatePolicy } from './simulate-policy.ts'
import { describeAction, parseTool } from './action-text.ts'
import { parseProposedPayload, PolicySimulationView } from './view.ts'

const MAX_SIMULATED_APPROVALS = 1000

export const policyRoutes = nameRoutes({
  /** Writes nothing. It is a POST because rules do not fit into a query string. */
  simulatePolicy: defineWrite('POST', '/v1/wedges/:wedge/policy/simulate', {
    summary: 'Simulate a policy',
    description: 'Evaluates proposed rules against the newest approvals, oldest first.',
    body: z.object({
      auto_approve: z.array(PolicyRule).max(200),
      limit: z.number().int().min(1).max(MAX_SIMULATED_APPROVALS).default(MAX_SIMULATED_APPROVALS),
    }),
    responses: { 200: PolicySimulationView },
    find: ({ ctx, params }) => requirePathWedge(ctx, params.wedge ?? ''),
    async handle({ ctx, scope, subject: wedge, body }) {
      const past = await listPastApprovals(ctx.db, scope.projectId, wedge.slug, body.limit)
      const decisions = simulatePolicy(body.auto_approve, past.map(toPastRequest))
      const results = past.flatMap((row, i) => {
        const { id: approval_id, action, status, created_at } = row
        const { text } = describeAction(parseTool(row), row, parseProposedPayload(row))
        const decision = decisions[i]
        return decision ? [{ approval_id, action, text, status, ...decision, created_at }] : []
      })
      const would_pass = results.filter(({ would }) => would === 'pass').length
      return { checked: results.length, would_pass, would_gate: results.length - would_pass, results }
    },
  }),
})

function toPastRequest(row: PastApproval): PastGatedRequest {
  return {
    taskId: row.task_id,
    action: row.action,
    payload: parseProposedPayload(row),
    amount: parseTool(row)?.amount ?? null,
    createdAt: row.created_at,
    approvalRequired: parseTaskConstraints(row).approval_required,
  }
}
