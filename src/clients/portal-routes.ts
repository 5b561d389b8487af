import { z } from 'zod'
import { notFound, unauthorized } from '../base/problem.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { clientText } from '../events/client-view.ts'
import { page, pageById, pageOf } from '../http/page.ts'
import { created, type Finding, nameRoutes, openRoute, portalRoute } from '../http/route.ts'
import { serveArtifact } from '../tasks/artifacts.ts'
import { findArtifact, findTask } from '../tasks/rows.ts'
import { StreamHeaders, StreamQuery, streamTask } from '../tasks/stream.ts'
import { findClient } from './client-rows.ts'
import { isFor } from './messages.ts'
import { postMessage } from './portal-messages.ts'
import {
  PortalCase,
  PortalClient,
  PortalMessage,
  PortalThread,
  PortalThreadSummary,
  showPortalMessage,
  showPortalThread,
  showToSelf,
} from './portal-records.ts'
import { casesOfClient } from './portal-rows.ts'
import { openPortalSession } from './portal-session.ts'
import { findThread, listThreads } from './thread-rows.ts'
import { messagesOf } from './threads.ts'

/** Open: the link's token is the credential. A POST, so that who only looks at a link does not use it up. */
export const portalSessionRoutes = nameRoutes({
  createPortalSession: openRoute('POST', '/v1/portal/session', {
    summary: 'Exchange a link for a session, once',
    body: z.object({ token: z.string().max(200) }),
    answers: { 201: z.object({ session_token: z.string(), expires_at: z.string(), client: PortalClient }) },
    async handle({ ctx, body }) {
      const opened = await openPortalSession(ctx, body.token)
      return created('/v1/portal/me', { ...opened, client: showToSelf(opened.client) })
    },
  }),
})

type Own = Finding<ClientScope>

async function self({ ctx, scope }: Pick<Own, 'ctx' | 'scope'>) {
  const client = await findClient(ctx.db, [scope.projectId], scope.clientId)
  if (!client) throw unauthorized()
  return client
}

async function ownThread({ ctx, scope, params }: Own) {
  const thread = await findThread(ctx.db, [scope.projectId], params.id ?? '')
  if (thread?.client_id !== scope.clientId) throw notFound('thread')
  return thread
}

async function ownTask({ ctx, scope, params }: Own) {
  const task = await findTask(ctx.db, [scope.projectId], params.id ?? '')
  if (task?.client_id !== scope.clientId) throw notFound('task')
  return task
}

async function ownArtifact({ ctx, scope, params }: Own) {
  const artifact = await findArtifact(ctx.db, [scope.projectId], params.id ?? '')
  if (artifact?.client_id !== scope.clientId) throw notFound('artifact')
  return artifact
}

const idOf = (row: { id: string }) => row.id

/** The client plane: a client reads and writes what is its own, and everything else does not exist. */
export const portalRoutes = nameRoutes({
  getPortalClient: portalRoute('GET', '/v1/portal/me', {
    summary: 'Who the client is',
    answers: { 200: PortalClient },
    handle: async ({ ctx, scope }) => showToSelf(await self({ ctx, scope })),
  }),
  listPortalThreads: portalRoute('GET', '/v1/portal/threads', {
    summary: "List the client's threads, newest first",
    query: z.object(pageById('thr')),
    answers: { 200: pageOf(PortalThreadSummary) },
    async handle({ ctx, scope, query }) {
      const rows = await listThreads(ctx.db, [scope.projectId], { ...query, client_id: scope.clientId })
      return page(rows, query.limit, idOf, showPortalThread)
    },
  }),
  getPortalThread: portalRoute('GET', '/v1/portal/threads/:id', {
    summary: "Read one of the client's threads with its messages",
    answers: { 200: PortalThread },
    find: ownThread,
    async handle({ ctx, scope, subject }) {
      const { handles } = await self({ ctx, scope })
      const messages = (await messagesOf(ctx, subject)).filter((message) => isFor(handles, message))
      return { ...showPortalThread(subject), messages: messages.map(showPortalMessage) }
    },
  }),
  createPortalMessage: portalRoute('POST', '/v1/portal/threads/:id/messages', {
    summary: 'Write into a thread; the message asks for a task',
    body: z.object({ body: z.string() }),
    answers: { 201: PortalMessage },
    find: ownThread,
    async handle({ ctx, scope, subject, body }) {
      const message = await postMessage(ctx, scope, subject, body.body)
      return created(`/v1/portal/threads/${subject.id}`, showPortalMessage(message))
    },
  }),
  followPortalTask: portalRoute('GET', '/v1/portal/tasks/:id/events', {
    summary: "Follow the log of one of the client's tasks, without what is internal",
    headers: StreamHeaders,
    query: StreamQuery,
    answers: { 200: 'text/event-stream' },
    find: ownTask,
    handle: async ({ ctx, subject, request, query }) => streamTask(ctx, subject, request, query, clientText),
  }),
  listPortalCases: portalRoute('GET', '/v1/portal/cases', {
    summary: "List the client's cases, newest first",
    query: z.object(pageById('case')),
    answers: { 200: pageOf(PortalCase) },
    async handle({ ctx, scope, query }) {
      return page(await casesOfClient(ctx.db, scope, query), query.limit, idOf, (row) => row)
    },
  }),
  getPortalArtifact: portalRoute('GET', '/v1/portal/artifacts/:id', {
    summary: "Fetch an artifact of one of the client's tasks, raw",
    answers: { 200: '*/*' },
    find: ownArtifact,
    handle: async ({ subject }) => serveArtifact(subject),
  }),
})
