import { z } from 'zod'
import { pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { createdResponse, defineRead, defineWrite, findInScope, nameRoutes } from '../../platform/http/route.ts'
import {
  assignApproval,
  commentApproval,
  MAX_COMMENT_CHARACTERS,
  readCommentViews,
} from '../people/assign-and-comment.ts'
import { listComments } from '../people/comment-rows.ts'
import { ApprovalCommentView } from '../requests/detail-view.ts'
import { readApprovalView } from './read-approvals.ts'
import { findApproval } from '../requests/rows.ts'
import { ApprovalView } from '../requests/view.ts'

export const approvalInScope = findInScope('approval', findApproval)

/** What people do with an approval before they decide. */
export const approvalPeopleRoutes = nameRoutes({
  updateApproval: defineWrite('PUT', '/v1/approvals/:id', {
    summary: 'Assign an approval to a member',
    description: 'The member is asked to decide; other approvers may still decide. 409 if the approval is decided.',
    body: z.object({
      assignee: z
        .string()
        .nullable()
        .meta({ description: 'The id or mail address of a member who may decide, or `me`; null: no member.' }),
    }),
    responses: { 200: ApprovalView },
    find: approvalInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readApprovalView(ctx.db, await assignApproval(ctx, scope, subject, body.assignee)),
  }),

  listApprovalComments: defineRead('/v1/approvals/:id/comments', {
    summary: 'List the comments on an approval, newest first',
    description: 'What members wrote to each other about the request. Clients and agents never see it.',
    query: z.object(pageQueryById('cmt')),
    longRead: true,
    responses: { 200: pageSchema(ApprovalCommentView) },
    find: approvalInScope,
    async handle({ ctx, subject, query }) {
      const rows = await listComments(ctx.db, subject.id, query)
      const { data, next_cursor } = toPage(
        rows,
        query.limit,
        (row) => row.id,
        (row) => row,
      )
      return { data: await readCommentViews(ctx.db, data), next_cursor }
    },
  }),

  createApprovalComment: defineWrite('POST', '/v1/approvals/:id/comments', {
    summary: 'Comment on an approval',
    description: 'Only the team reads comments. They can be added after the decision, too.',
    body: z.object({ body: z.string().trim().min(1).max(MAX_COMMENT_CHARACTERS) }),
    responses: { 201: ApprovalCommentView },
    find: approvalInScope,
    async handle({ ctx, scope, subject, body }) {
      const comment = await commentApproval(ctx, scope, subject, body.body)
      const [view] = await readCommentViews(ctx.db, [comment])
      return createdResponse(`/v1/approvals/${subject.id}/comments`, view)
    },
  }),
})
