import { z } from 'zod'
import { notFound, unauthorized } from '../base/problem.ts'
import { isVisibleToClient } from '../channels/messages.ts'
import { findThread, listThreads } from '../channels/thread-rows.ts'
import { readThreadMessages } from '../channels/threads.ts'
import { findClient } from '../clients/rows.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { clientFrameText } from '../events/client-frames.ts'
import { EventView } from '../events/event-types.ts'
import { pageQueryById, pageSchema, toPage } from '../http/page.ts'
import { createdResponse, type FindInput, nameRoutes, openRoute, portalRoute } from '../http/route.ts'
import { serveArtifact } from '../tasks/artifacts.ts'
import { findArtifact, findTask } from '../tasks/rows.ts'
import { streamTask, TaskStreamQuery, taskStreamHeaders } from '../tasks/stream.ts'
import { postPortalMessage } from './post-message.ts'
import { listClientCases } from './rows.ts'
import { openPortalSession } from './session.ts'
import {
  PortalCaseView,
  PortalClientView,
  PortalMessageView,
  PortalSessionView,
  PortalThreadSummaryView,
  PortalThreadView,
  toPortalClientView,
  toPortalMessageView,
  toPortalThreadView,
} from './view.ts'

/** Needs no session: the token of the link is the credential. A POST, so that a mail scanner does not use the link up. */
export const portalSessionRoutes = nameRoutes({
  createPortalSession: openRoute('POST', '/v1/portal/session', {
    summary: 'Start a portal session',
    description: 'Exchanges the token of a portal link for a session, once.',
    body: z.object({ token: z.string().max(200) }),
    responses: { 201: PortalSessionView },
    async handle({ ctx, body }) {
      const opened = await openPortalSession(ctx, body.token)
      return createdResponse('/v1/portal/me', { ...opened, client: toPortalClientView(opened.client) })
    },
  }),
})

type ClientFinding = FindInput<ClientScope>

async function requireOwnClient({ ctx, scope }: Pick<ClientFinding, 'ctx' | 'scope'>) {
  const client = await findClient(ctx.db, [scope.projectId], scope.clientId)
  if (!client) throw unauthorized()
  return client
}

async function requireOwnThread({ ctx, scope, params }: ClientFinding) {
  const thread = await findThread(ctx.db, [scope.projectId], params.id ?? '')
  if (thread?.client_id !== scope.clientId) throw notFound('thread')
  return thread
}

async function requireOwnTask({ ctx, scope, params }: ClientFinding) {
  const task = await findTask(ctx.db, [scope.projectId], params.id ?? '')
  if (task?.client_id !== scope.clientId) throw notFound('task')
  return task
}

async function requireOwnArtifact({ ctx, scope, params }: ClientFinding) {
  const artifact = await findArtifact(ctx.db, [scope.projectId], params.id ?? '')
  if (artifact?.client_id !== scope.clientId) throw notFound('artifact')
  return artifact
}

const idOf = (row: { id: string }) => row.id

/** The client plane. A client reaches only its own data; everything else is a 404. */
export const portalRoutes = nameRoutes({
  getPortalClient: portalRoute('GET', '/v1/portal/me', {
    summary: 'Read the current client',
    responses: { 200: PortalClientView },
    handle: async ({ ctx, scope }) => toPortalClientView(await requireOwnClient({ ctx, scope })),
  }),
  listPortalThreads: portalRoute('GET', '/v1/portal/threads', {
    summary: "List the client's threads, newest first",
    query: z.object(pageQueryById('thr')),
    responses: { 200: pageSchema(PortalThreadSummaryView) },
    async handle({ ctx, scope, query }) {
      const rows = await listThreads(ctx.db, [scope.projectId], { ...query, client_id: scope.clientId })
      return toPage(rows, query.limit, idOf, toPortalThreadView)
    },
  }),
  getPortalThread: portalRoute('GET', '/v1/portal/threads/:id', {
    summary: 'Read a thread of the client with its messages',
    responses: { 200: PortalThreadView },
    find: requireOwnThread,
    async handle({ ctx, scope, subject }) {
      const { handles } = await requireOwnClient({ ctx, scope })
      const messages = (await readThreadMessages(ctx, subject)).filter((message) => isVisibleToClient(handles, message))
      return { ...toPortalThreadView(subject), messages: messages.map(toPortalMessageView) }
    },
  }),
  createPortalMessage: portalRoute('POST', '/v1/portal/threads/:id/messages', {
    summary: 'Send a message in a thread',
    description: 'The message starts a task.',
    body: z.object({ body: z.string() }),
    responses: { 201: PortalMessageView },
    find: requireOwnThread,
    async handle({ ctx, scope, subject, body }) {
      const message = await postPortalMessage(ctx, scope, subject, body.body)
      return createdResponse(`/v1/portal/threads/${subject.id}`, toPortalMessageView(message))
    },
  }),
  followPortalTask: portalRoute('GET', '/v1/portal/tasks/:id/events', {
    summary: 'Follow the events of a task of the client',
    description: 'Server-sent events without internal details.',
    headers: taskStreamHeaders,
    query: TaskStreamQuery,
    responses: { 200: { eventStreamOf: EventView } },
    find: requireOwnTask,
    handle: async ({ ctx, subject, request, query }) => streamTask(ctx, subject, request, query, clientFrameText),
  }),
  listPortalCases: portalRoute('GET', '/v1/portal/cases', {
    summary: "List the client's cases, newest first",
    query: z.object(pageQueryById('case')),
    responses: { 200: pageSchema(PortalCaseView) },
    async handle({ ctx, scope, query }) {
      return toPage(await listClientCases(ctx.db, scope, query), query.limit, idOf, (row) => row)
    },
  }),
  getPortalArtifact: portalRoute('GET', '/v1/portal/artifacts/:id', {
    summary: 'Download an artifact of a task of the client',
    responses: { 200: '*/*' },
    find: requireOwnArtifact,
    handle: async ({ subject }) => serveArtifact(subject),
  }),
})
