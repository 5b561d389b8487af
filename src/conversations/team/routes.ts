import { z } from 'zod'
import { idPattern } from '../../platform/base/ids.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { findThread, THREAD_STATUSES } from '../../customers/threads/thread-rows.ts'
import { readThreadMessages } from '../../customers/threads/thread-history.ts'
import { fileIds } from '../../work/files/usable-files.ts'
import { filterParam, pageQuery, pageSchema } from '../../platform/http/page.ts'
import { createdResponse, defineRead, defineWrite, findInScope, nameRoutes } from '../../platform/http/route.ts'
import { readNewTaskView } from '../../work/tasks/routes.ts'
import { TaskView } from '../../work/tasks/view.ts'
import { answerThread } from './answer-thread.ts'
import { changeThread, ThreadChange } from './change-thread.ts'
import { startWaitingMessages } from './start-waiting-messages.ts'
import { listThreadPage, MAX_SEARCHED_THREADS } from './list-threads.ts'
import {
  MessageView,
  readMessageViews,
  readThreadSummaries,
  readThreadSummary,
  readThreadView,
  ThreadSummaryView,
  ThreadView,
} from './view.ts'

const threadInScope = findInScope('thread', findThread)

const ID_CURSOR = idPattern('thr').source.slice(1, -1)
const ACTIVITY_CURSOR = `\\d{4}-\\d{2}-\\d{2}T[\\d:.]{8,12}Z~${ID_CURSOR}`

const flagParam = z.literal('true').optional()

export const threadRoutes = nameRoutes({
  listThreads: defineRead('/v1/threads', {
    summary: 'List threads, newest first',
    description:
      'Conversations of all channels, with a summary instead of their messages. The filters are combined, and `order` also decides which cursors are valid.',
    query: z.object({
      order: z
        .enum(['created', 'activity'])
        .default('created')
        .meta({ description: '`activity`: the thread with the newest activity comes first.' }),
      client_id: filterParam,
      channel_id: filterParam,
      status: z.enum(THREAD_STATUSES).optional(),
      unread: flagParam.meta({ description: 'Only threads with messages that the team has not read.' }),
      unanswered: flagParam.meta({
        description: 'Only threads whose client waits for an answer that no run will give.',
      }),
      held_by: z.literal('me').optional().meta({ description: 'Only threads that the caller has taken over.' }),
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .optional()
        .meta({
          description: `Text in the subject, client or messages. A page compares at most ${MAX_SEARCHED_THREADS.toLocaleString('en-US')} threads: it can be short or empty and still have a next one.`,
        }),
      ...pageQuery(new RegExp(`^(?:${ID_CURSOR}|${ACTIVITY_CURSOR})$`)),
    }),
    longRead: true,
    responses: { 200: pageSchema(ThreadSummaryView) },
    async handle({ ctx, scope, query }) {
      const { unread, unanswered, held_by, ...rest } = query
      if (rest.cursor !== undefined && rest.cursor.includes('~') !== (rest.order === 'activity'))
        throw badRequest("field 'cursor' must be a next_cursor of this list")
      const flags = { unread: unread === 'true', unanswered: unanswered === 'true' }
      const filter = { ...rest, ...flags, ...(held_by && { held_by: scope.actor }) }
      const { rows, next_cursor } = await listThreadPage(ctx.db, scope.projectIds, filter)
      return { data: await readThreadSummaries(ctx.db, rows), next_cursor }
    },
  }),

  getThread: defineRead('/v1/threads/:id', {
    summary: 'Read a thread with its messages',
    description: 'Messages come oldest first, at most the newest 1,000.',
    responses: { 200: ThreadView },
    find: threadInScope,
    handle: async ({ ctx, subject }) => readThreadView(ctx.db, subject, await readThreadMessages(ctx, subject)),
  }),

  updateThread: defineWrite('PUT', '/v1/threads/:id', {
    summary: 'Change a thread',
    description:
      'Closes or reopens it, takes the conversation over from the agent or gives it back, marks it as read, dismisses that the client waits. While a person has the conversation, messages start no task.',
    body: ThreadChange,
    responses: { 200: ThreadSummaryView },
    find: threadInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      readThreadSummary(ctx.db, await changeThread(ctx, scope, subject, body)),
  }),

  startThreadTask: defineWrite('POST', '/v1/threads/:id/tasks', {
    summary: 'Start a task for the messages that wait',
    description:
      'One task for the messages of the thread that wait for a person, such as those beyond the limit of their sender. 409 if none waits, if the thread is closed, and while a person has the conversation.',
    responses: { 201: TaskView },
    find: threadInScope,
    async handle({ ctx, scope, subject }) {
      const { task, files } = await startWaitingMessages(ctx, scope, subject)
      return createdResponse(`/v1/tasks/${task.id}`, await readNewTaskView(ctx, task, files))
    },
  }),

  createThreadMessage: defineWrite('POST', '/v1/threads/:id/messages', {
    summary: 'Reply to the client in a thread',
    description:
      "Sent at once, the way the client's message came, if the channel has an adapter; `delivery` says how. Otherwise the client reads it in the portal. 409 if the thread is closed.",
    body: z.object({ body: z.string().trim().min(1).max(20_000), files: fileIds.optional() }),
    responses: { 201: MessageView },
    find: threadInScope,
    async handle({ ctx, scope, subject, body }) {
      const message = await answerThread(ctx, scope, subject, { body: body.body, files: body.files ?? [] })
      const [view] = await readMessageViews(ctx.db, [message])
      return createdResponse(`/v1/threads/${subject.id}`, view)
    },
  }),
})
