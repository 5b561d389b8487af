import { z } from 'zod'
import { filterParam, pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { defineRead, defineWrite, findInScope, nameRoutes, noContentResponse } from '../../platform/http/route.ts'
import { visibleJsonObject } from '../../platform/http/visible-keys.ts'
import { taskInScope } from '../../work/tasks/routes.ts'
import { ApprovalDetailView } from '../requests/detail-view.ts'
import { listEffects } from '../effects/effect-rows.ts'
import { approvalInScope } from './people-routes.ts'
import { holdParam, withdrawHeldApproval } from './hold-approval.ts'
import { readApprovalViews, readDecisionResult } from './read-approvals.ts'
import { readApprovalDetail } from './read-detail.ts'
import { findDecidableApproval, listApprovals } from '../requests/rows.ts'
import { applyDecision } from './apply-decision.ts'
import {
  APPROVAL_PATHS,
  APPROVAL_STATUSES,
  ApprovalView,
  ApproveResultView,
  DecisionView,
  EffectView,
  toEffectView,
} from '../requests/view.ts'

const decidableInScope = findInScope('approval', findDecidableApproval)

export const approvalRoutes = nameRoutes({
  listApprovals: defineRead('/v1/approvals', {
    summary: 'List approvals, newest first',
    description:
      'Requests of agents that stopped at the gate, and questions to the team or a client (`path`). `status=pending` lists what waits for a decision, `assignee=me` what is assigned to the caller, `held=me` what the caller has approved and can still withdraw.',
    query: z.object({
      status: z.enum(APPROVAL_STATUSES).optional(),
      task_id: filterParam,
      wedge: filterParam,
      path: z.enum(APPROVAL_PATHS).optional(),
      assignee: filterParam.meta({ description: 'The id of a member, or `me`.' }),
      held: z.literal('me').optional(),
      ...pageQueryById('apr'),
    }),
    longRead: true,
    responses: { 200: pageSchema(ApprovalView) },
    async handle({ ctx, scope, query }) {
      const assignee_id = query.assignee === 'me' ? scope.actor.id : query.assignee
      const held_by_id = query.held && scope.actor.id
      const rows = await listApprovals(ctx.db, scope.projectIds, { ...query, assignee_id, held_by_id })
      const page = toPage(
        rows,
        query.limit,
        (row) => row.id,
        (row) => row,
      )
      return { ...page, data: await readApprovalViews(ctx.db, page.data) }
    },
  }),

  getApproval: defineRead('/v1/approvals/:id', {
    summary: 'Read an approval with everything that is needed to decide',
    description:
      'Besides the request: the end of the conversation, earlier decisions on the same action, the last steps of the agent, the files, and in words why a decision is needed and whose.',
    responses: { 200: ApprovalDetailView },
    find: approvalInScope,
    handle: async ({ ctx, subject }) => readApprovalDetail(ctx, subject),
  }),

  approveApproval: defineWrite('POST', '/v1/approvals/:id/approve', {
    summary: 'Approve an approval',
    description:
      'Fields of `edited` replace those of the payload. A question is answered with `edited: {answer}`. The task continues, unless more people must approve: then the answer is `pending` with the votes so far. With `hold_s` the answer is `held`.',
    body: z.object({
      edited: visibleJsonObject.nullish(),
      note: z.string().max(10_000).optional(),
      payload_sha256: z
        .string()
        .optional()
        .meta({ description: 'The hash of the payload that the caller has read; 409 if it is another one now.' }),
      hold_s: holdParam,
    }),
    responses: { 200: ApproveResultView },
    find: decidableInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readDecisionResult(
        ctx.db,
        subject.id,
        await applyDecision(ctx, scope, subject, { ...body, decision: 'approve' }),
      ),
  }),

  deleteHeldApproval: defineWrite('DELETE', '/v1/approvals/:id/held', {
    summary: 'Withdraw your approval while it is held',
    description: '403 for another caller than the one that approved; 409 if nothing is held or the approval is made.',
    responses: { 204: z.null() },
    find: decidableInScope,
    async handle({ ctx, scope, subject }) {
      await withdrawHeldApproval(ctx, scope.actor, subject)
      return noContentResponse()
    },
  }),

  rejectApproval: defineWrite('POST', '/v1/approvals/:id/reject', {
    summary: 'Reject an approval',
    description: 'The task ends as rejected. A question only gets no answer, and its task continues.',
    body: z.object({ reason: z.string().max(10_000).optional() }),
    responses: { 200: DecisionView },
    find: decidableInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readDecisionResult(ctx.db, subject.id, await applyDecision(ctx, scope, subject, { ...body, decision: 'reject' })),
  }),

  reviseApproval: defineWrite('POST', '/v1/approvals/:id/revise', {
    summary: 'Send a request back with a note',
    description:
      'The approval is rejected with `revise: true` and the note as its reason. The task continues, and its agent gets the note as the result of its call.',
    body: z.object({ note: z.string().trim().min(1).max(10_000) }),
    responses: { 200: DecisionView },
    find: decidableInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readDecisionResult(ctx.db, subject.id, await applyDecision(ctx, scope, subject, { ...body, decision: 'revise' })),
  }),

  listTaskActions: defineRead('/v1/tasks/:id/actions', {
    summary: 'List the external actions of a task',
    description:
      'What was sent to other systems after an approval, each once. `unknown` means that the outcome could not be determined; the service does not repeat such a call.',
    query: z.object(pageQueryById('apr')),
    longRead: true,
    responses: { 200: pageSchema(EffectView) },
    find: taskInScope,
    async handle({ ctx, subject, query }) {
      return toPage(await listEffects(ctx.db, subject.id, query), query.limit, (row) => row.id, toEffectView)
    },
  }),
})
