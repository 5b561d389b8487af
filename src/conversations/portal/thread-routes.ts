import { z } from 'zod'
import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { notFound } from '../../platform/base/problem.ts'
import { isVisibleToClient } from '../../customers/threads/append-message.ts'
import { findThread, listClientThreads } from '../../customers/threads/thread-rows.ts'
import { readThreadMessages } from '../../customers/threads/thread-history.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { listMessageFiles } from '../../work/files/rows.ts'
import { fileIds } from '../../work/files/usable-files.ts'
import { pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { createdResponse, type FindInput, portalRoute } from '../../platform/http/route.ts'
import type { MessageRow, ThreadRow } from '../../platform/store/tables.ts'
import { IDEMPOTENCY_KEY_BOUNDS, readIdempotencyKey } from '../../work/tasks/idempotency.ts'
import { updateThreadReadByClient } from './notice-rows.ts'
import { postPortalMessage, startConversation } from './post-message.ts'
import { listClientThreadDetails } from './rows.ts'
import { requireOwnClient } from './session.ts'
import {
  PortalMessageView,
  PortalOkView,
  PortalThreadSummaryView,
  PortalThreadView,
  toPortalMessageView,
  toPortalThreadView,
} from './view.ts'

async function requireOwnThread({ ctx, scope, params }: FindInput<ClientScope>) {
  const thread = await findThread(ctx.db, [scope.projectId], params.id ?? '')
  if (thread?.client_id !== scope.clientId) throw notFound('thread')
  return thread
}

const MessageInput = z.object({ body: z.string(), files: fileIds.optional() })

const IDEMPOTENCY_HEADERS = {
  read: {
    'Idempotency-Key': {
      description: 'the same key with the same text sends the message once; with another text it is 409',
      ...IDEMPOTENCY_KEY_BOUNDS,
    },
  },
  sent: { 'idempotency-replayed': '`true` if an earlier request with this key sent the message' },
}

const replayedHeader = (replayed: boolean): Record<string, string> =>
  replayed ? { 'idempotency-replayed': 'true' } : {}

/** The client's conversations. */
export const portalThreadRoutes = {
  listPortalThreads: portalRoute('GET', '/v1/portal/threads', {
    summary: "List the client's threads, newest first",
    description:
      'Conversations of this client on all channels, with the last message and whether something is unread. Messages that are only for the team are left out.',
    query: z.object(pageQueryById('thr')),
    longRead: true,
    responses: { 200: pageSchema(PortalThreadSummaryView) },
    async handle({ ctx, scope, query }) {
      const { handles } = await requireOwnClient(ctx, scope)
      const rows = await listClientThreads(ctx.db, scope, query)
      const details = await listClientThreadDetails(
        ctx.db,
        rows.map(({ id }) => id),
      )
      return toPage(
        rows,
        query.limit,
        ({ id }) => id,
        (row) => toPortalThreadView(row, details.get(row.id), handles),
      )
    },
  }),

  createPortalThread: portalRoute('POST', '/v1/portal/threads', {
    summary: 'Start a conversation',
    description: 'The message starts a task of the channel that the brand names. 409 if it names none.',
    headers: IDEMPOTENCY_HEADERS,
    body: MessageInput.extend({ subject: z.string().trim().max(200).nullish() }),
    responses: { 201: PortalThreadView },
    async handle({ ctx, scope, body, request }) {
      const idempotencyKey = readIdempotencyKey(request)?.key ?? null
      const { message, replayed } = await startConversation(ctx, scope, { ...body, idempotencyKey })
      const { thread_id } = message
      const thread = await findThread(ctx.db, [scope.projectId], thread_id)
      if (!thread) throw notFound('thread')
      const whole = await toWholeThread(ctx, scope, thread)
      return createdResponse(`/v1/portal/threads/${thread_id}`, whole, replayedHeader(replayed))
    },
  }),

  getPortalThread: portalRoute('GET', '/v1/portal/threads/:id', {
    summary: 'Read a thread of the client with its messages',
    description:
      'Messages come oldest first, at most the newest 1,000, without what is only for the team. Reading does not mark them as read.',
    responses: { 200: PortalThreadView },
    find: requireOwnThread,
    handle: ({ ctx, scope, subject }) => toWholeThread(ctx, scope, subject),
  }),

  createPortalMessage: portalRoute('POST', '/v1/portal/threads/:id/messages', {
    summary: 'Send a message in a thread',
    description: 'The message starts a task. With files the text may be empty.',
    headers: IDEMPOTENCY_HEADERS,
    body: MessageInput,
    responses: { 201: PortalMessageView },
    find: requireOwnThread,
    async handle({ ctx, scope, subject, body, request }) {
      const idempotencyKey = readIdempotencyKey(request)?.key ?? null
      const { message, replayed } = await postPortalMessage(ctx, scope, subject, { ...body, idempotencyKey })
      const [shown] = await toMessageViews(ctx, [message])
      return createdResponse(`/v1/portal/threads/${subject.id}`, shown, replayedHeader(replayed))
    },
  }),

  readPortalThread: portalRoute('POST', '/v1/portal/threads/:id/read', {
    summary: 'Mark a thread as read',
    description: 'The client gets no mail about answers that it has read.',
    responses: { 200: PortalOkView },
    find: requireOwnThread,
    async handle({ ctx, scope, subject }) {
      await markThreadRead(ctx, scope, subject)
      return { ok: true }
    },
  }),
}

async function toWholeThread(ctx: Ctx, scope: ClientScope, thread: ThreadRow) {
  const { handles } = await requireOwnClient(ctx, scope)
  const details = await listClientThreadDetails(ctx.db, [thread.id])
  const visible = (await readThreadMessages(ctx, thread)).filter((message) => isVisibleToClient(handles, message))
  const messages = await toMessageViews(ctx, visible)
  return { ...toPortalThreadView(thread, details.get(thread.id), handles), messages }
}

async function toMessageViews({ db }: Pick<Ctx, 'db'>, messages: readonly MessageRow[]) {
  const files = await listMessageFiles(
    db,
    messages.map(({ id }) => id),
  )
  const nameOf = await nameActors(
    db,
    messages.map(({ author_kind, author_id }) => ({ kind: author_kind, id: author_id })),
  )
  return messages.map((message) =>
    toPortalMessageView(
      message,
      nameOf(message.author_kind, message.author_id),
      files.filter(({ message_id }) => message_id === message.id),
    ),
  )
}

async function markThreadRead(ctx: Ctx, scope: ClientScope, { id }: ThreadRow): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await updateThreadReadByClient(tx.db, id))) return
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'thread.read', id)
  })
}
