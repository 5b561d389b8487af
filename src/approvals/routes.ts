import { z } from 'zod'
import { jsonObject } from '../http/judge.ts'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { inScope, read, write, nameRoutes } from '../http/route.ts'
import { TaskRecord } from '../tasks/record.ts'
import { showWithArtifacts, taskInScope } from '../tasks/routes.ts'
import { approve, reject } from './decide.ts'
import { EffectRecord, showEffect } from './effects.ts'
import { listEffects } from './effect-rows.ts'
import { APPROVAL_STATUSES, ApprovalRecord, showApproval } from './record.ts'
import { findApproval, findDecidable, listApprovals } from './rows.ts'
import { cancelTask } from './settle.ts'

const approvalInScope = inScope('approval', findApproval)
const decidableInScope = inScope('approval', findDecidable)

const Decided = z.object({ ok: z.literal(true), decision: z.enum(['approved', 'rejected']) })

export const approvalRoutes = nameRoutes({
  listApprovals: read('/v1/approvals', {
    summary: 'List approvals, newest first',
    query: z.object({
      status: z.enum(APPROVAL_STATUSES).optional(),
      task_id: filter,
      wedge: filter,
      ...pageById('apr'),
    }),
    answers: { 200: pageOf(ApprovalRecord) },
    async handle({ ctx, scope, query }) {
      const rows = await listApprovals(ctx.db, scope.projectIds, query)
      return page(rows, query.limit, (row) => row.id, showApproval)
    },
  }),

  getApproval: read('/v1/approvals/:id', {
    summary: 'Read an approval',
    answers: { 200: ApprovalRecord },
    find: approvalInScope,
    handle: async ({ subject }) => showApproval(subject),
  }),

  approveApproval: write('POST', '/v1/approvals/:id/approve', {
    summary: 'Approve, with an edit laid over the payload if given',
    body: z.object({ edited: jsonObject.nullish(), note: z.string().max(10_000).optional() }),
    answers: { 200: Decided },
    find: decidableInScope,
    async handle({ ctx, scope, subject, body }) {
      await approve(ctx, scope, subject, { edited: body.edited ?? undefined, note: body.note })
      return { ok: true, decision: 'approved' }
    },
  }),

  rejectApproval: write('POST', '/v1/approvals/:id/reject', {
    summary: 'Reject, which ends the task',
    body: z.object({ reason: z.string().max(10_000).optional() }),
    answers: { 200: Decided },
    find: decidableInScope,
    async handle({ ctx, scope, subject, body }) {
      await reject(ctx, scope, subject, body.reason)
      return { ok: true, decision: 'rejected' }
    },
  }),

  cancelTask: write('POST', '/v1/tasks/:id/cancel', {
    summary: 'Cancel a task; one that waits for an approval is settled as rejected',
    answers: { 200: TaskRecord },
    find: taskInScope,
    handle: async ({ ctx, scope, subject }) => showWithArtifacts(ctx, await cancelTask(ctx, scope, subject)),
  }),

  listTaskActions: read('/v1/tasks/:id/actions', {
    summary: 'The effect ledger of a task: one row per external effect',
    query: z.object(pageById('apr')),
    answers: { 200: pageOf(EffectRecord) },
    find: taskInScope,
    async handle({ ctx, subject, query }) {
      return page(await listEffects(ctx.db, subject.id, query), query.limit, (row) => row.approval_id, showEffect)
    },
  }),
})
