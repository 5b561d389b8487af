import { z } from 'zod'
import { isClientApprover } from '../../approvals/people/approvers.ts'
import { findDecidableApproval } from '../../approvals/requests/rows.ts'
import { applyDecision } from '../../approvals/decisions/apply-decision.ts'
import { notFound } from '../../platform/base/problem.ts'
import { findBrand } from '../../customers/brand/rows.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { type FindInput, portalRoute } from '../../platform/http/route.ts'
import { listClientApprovals } from './approval-rows.ts'
import {
  PORTAL_APPROVAL_STATUSES,
  PortalApprovalView,
  PortalDecisionView,
  toPortalApprovalView,
} from './approval-view.ts'

/** An approval that this client does not decide about does not exist for it. Questions have routes of their own. */
async function requireOwnApproval({ ctx, scope, params }: FindInput<ClientScope>) {
  const approval = await findDecidableApproval(ctx.db, [scope.projectId], params.id ?? '')
  const isAsked = approval?.client_id === scope.clientId && approval.path !== 'question' && isClientApprover(approval)
  if (!isAsked) throw notFound('approval')
  return approval
}

const MAX_REASON_CHARACTERS = 1_000

/** What the client is asked to approve. The wedge names the client among the approvers of an action. */
export const portalApprovalRoutes = {
  listPortalApprovals: portalRoute('GET', '/v1/portal/approvals', {
    summary: 'List what the client is or was asked to approve, newest first',
    description:
      'Only actions whose wedge names the client among the approvers. `payload_sha256` is to be sent with the decision, so that the client approves what it has read.',
    query: z.object({ status: z.enum(PORTAL_APPROVAL_STATUSES).optional(), ...pageQueryById('apr') }),
    longRead: true,
    responses: { 200: pageSchema(PortalApprovalView) },
    async handle({ ctx, scope, query }) {
      const rows = await listClientApprovals(ctx.db, scope, query)
      const { language } = await findBrand(ctx.db, scope.projectId)
      return toPage(
        rows,
        query.limit,
        ({ id }) => id,
        (row) => toPortalApprovalView(row, language),
      )
    },
  }),

  approvePortalApproval: portalRoute('POST', '/v1/portal/approvals/:id/approve', {
    summary: 'Approve an action',
    description: 'The action is performed and the task continues, unless other people must approve as well.',
    body: z.object({
      payload_sha256: z
        .string()
        .optional()
        .meta({ description: 'The hash of the payload that the client has read; 409 if it is another one now.' }),
    }),
    responses: { 200: PortalDecisionView },
    find: requireOwnApproval,
    async handle({ ctx, scope, subject, body: { payload_sha256 } }) {
      const { decision } = await applyDecision(ctx, scope, subject, { decision: 'approve', payload_sha256 })
      return { ok: true, decision }
    },
  }),

  rejectPortalApproval: portalRoute('POST', '/v1/portal/approvals/:id/reject', {
    summary: 'Decline an action',
    description: 'Nothing is performed, and the task ends as rejected. The team reads the reason.',
    body: z.object({ reason: z.string().trim().max(MAX_REASON_CHARACTERS).optional() }),
    responses: { 200: PortalDecisionView },
    find: requireOwnApproval,
    async handle({ ctx, scope, subject, body: { reason } }) {
      const { decision } = await applyDecision(ctx, scope, subject, { decision: 'reject', reason: reason || undefined })
      return { ok: true, decision }
    },
  }),
}
