import { z } from 'zod'
import { filter, page, pageById, pageOf } from '../http/page.ts'
import { created, inScope, read, write, nameRoutes } from '../http/route.ts'
import { MessageRecord, showMessage, showThread, ThreadRecord, ThreadSummary } from './records.ts'
import { answerThread } from './reply.ts'
import { findThread, listThreads } from './thread-rows.ts'
import { messagesOf, setThreadStatus, THREAD_STATUSES } from './threads.ts'

const threadInScope = inScope('thread', findThread)

export const threadRoutes = nameRoutes({
  listThreads: read('/v1/threads', {
    summary: 'List threads, newest first',
    query: z.object({
      client_id: filter,
      channel_id: filter,
      status: z.enum(THREAD_STATUSES).optional(),
      ...pageById('thr'),
    }),
    answers: { 200: pageOf(ThreadSummary) },
    async handle({ ctx, scope, query }) {
      return page(await listThreads(ctx.db, scope.projectIds, query), query.limit, (row) => row.id, showThread)
    },
  }),

  getThread: read('/v1/threads/:id', {
    summary: 'Read a thread with its messages, oldest first; of a very long one the newest thousand',
    answers: { 200: ThreadRecord },
    find: threadInScope,
    async handle({ ctx, subject }) {
      return { ...showThread(subject), messages: (await messagesOf(ctx, subject)).map(showMessage) }
    },
  }),

  updateThread: write('PUT', '/v1/threads/:id', {
    summary: 'Close a thread, or open it again',
    body: z.object({ status: z.enum(THREAD_STATUSES) }),
    answers: { 200: ThreadSummary },
    find: threadInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      showThread(await setThreadStatus(ctx, scope, subject, body.status)),
  }),

  createThreadMessage: write('POST', '/v1/threads/:id/messages', {
    summary: 'Answer the client in an open thread; they read it in the portal, and no mail is sent',
    body: z.object({ body: z.string().trim().min(1).max(20_000) }),
    answers: { 201: MessageRecord },
    find: threadInScope,
    async handle({ ctx, scope, subject, body }) {
      const message = await answerThread(ctx, scope, subject, body.body)
      return created(`/v1/threads/${subject.id}`, showMessage(message))
    },
  }),
})
