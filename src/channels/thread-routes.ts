import { z } from 'zod'
import { filterParam, pageQueryById, pageSchema, toPage } from '../http/page.ts'
import { createdResponse, defineRead, defineWrite, findInScope, nameRoutes } from '../http/route.ts'
import { replyToThread } from './reply.ts'
import { findThread, listThreads } from './thread-rows.ts'
import { changeThreadStatus, readThreadMessages, THREAD_STATUSES } from './threads.ts'
import { MessageView, ThreadSummaryView, ThreadView, toMessageView, toThreadSummaryView } from './view.ts'

const threadInScope = findInScope('thread', findThread)

export const threadRoutes = nameRoutes({
  listThreads: defineRead('/v1/threads', {
    summary: 'List threads, newest first',
    query: z.object({
      client_id: filterParam,
      channel_id: filterParam,
      status: z.enum(THREAD_STATUSES).optional(),
      ...pageQueryById('thr'),
    }),
    responses: { 200: pageSchema(ThreadSummaryView) },
    async handle({ ctx, scope, query }) {
      return toPage(
        await listThreads(ctx.db, scope.projectIds, query),
        query.limit,
        (row) => row.id,
        toThreadSummaryView,
      )
    },
  }),

  getThread: defineRead('/v1/threads/:id', {
    summary: 'Read a thread with its messages',
    description: 'Messages come oldest first, at most the newest 1,000.',
    responses: { 200: ThreadView },
    find: threadInScope,
    async handle({ ctx, subject }) {
      return { ...toThreadSummaryView(subject), messages: (await readThreadMessages(ctx, subject)).map(toMessageView) }
    },
  }),

  updateThread: defineWrite('PUT', '/v1/threads/:id', {
    summary: 'Close or reopen a thread',
    body: z.object({ status: z.enum(THREAD_STATUSES) }),
    responses: { 200: ThreadSummaryView },
    find: threadInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      toThreadSummaryView(await changeThreadStatus(ctx, scope, subject, body.status)),
  }),

  createThreadMessage: defineWrite('POST', '/v1/threads/:id/messages', {
    summary: 'Reply to the client in a thread',
    description: 'The client reads it in the portal; no mail is sent. 409 if the thread is closed.',
    body: z.object({ body: z.string().trim().min(1).max(20_000) }),
    responses: { 201: MessageView },
    find: threadInScope,
    async handle({ ctx, scope, subject, body }) {
      const message = await replyToThread(ctx, scope, subject, body.body)
      return createdResponse(`/v1/threads/${subject.id}`, toMessageView(message))
    },
  }),
})
