import { z } from 'zod'
import { rejectApproval } from '../../approvals/decisions/decide-approval.ts'
import { findDecidableApproval } from '../../approvals/requests/rows.ts'
import { notFound } from '../../platform/base/problem.ts'
import { projectAddress } from '../../customers/brand/public-brand.ts'
import { findBrand } from '../../customers/brand/rows.ts'
import { toPublicBrandView } from '../../customers/brand/view.ts'
import type { ClientWithHandles } from '../../customers/clients/rows.ts'
import { parseMailAddress } from '../../connections/mail/mail-address.ts'
import { isClientFile } from '../../platform/contract/agent-protocol.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { clientFrameText } from '../../work/events/client-frames.ts'
import { EventView } from '../../work/events/event-types.ts'
import { currentStorage } from '../../work/files/storage.ts'
import { pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import { type FindInput, nameRoutes, portalRoute } from '../../platform/http/route.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import { serveArtifact } from '../../work/tasks/artifacts.ts'
import { findArtifact, findTask } from '../../work/tasks/rows.ts'
import { streamTask, TaskStreamQuery, taskStreamHeaders } from '../../work/tasks/stream.ts'
import { portalAccessRoutes } from './access-routes.ts'
import { portalApprovalRoutes } from './approval-routes.ts'
import { portalConnectionRoutes } from './connection-routes.ts'
import { portalFileRoutes } from './file-routes.ts'
import { answerQuestion } from './answer-question.ts'
import { findNoticeOptOut } from './notice-rows.ts'
import { findPortalChannel } from './post-message.ts'
import { listClientCases, listClientQuestions } from './rows.ts'
import { requireOwnClient } from './session.ts'
import { portalThreadRoutes } from './thread-routes.ts'
import {
  PortalCaseView,
  PortalMeView,
  PortalOkView,
  PortalQuestionView,
  toPortalClientView,
  toPortalQuestionView,
} from './view.ts'

type ClientFinding = FindInput<ClientScope>

async function requireOwnTask({ ctx, scope, params }: ClientFinding) {
  const task = await findTask(ctx.db, [scope.projectId], params.id ?? '')
  if (task?.client_id !== scope.clientId) throw notFound('task')
  return task
}

async function requireOwnArtifact({ ctx, scope, params }: ClientFinding) {
  const artifact = await findArtifact(ctx.db, [scope.projectId], params.id ?? '')
  if (artifact?.client_id !== scope.clientId || !isClientFile(artifact.name)) throw notFound('artifact')
  return artifact
}

/** A question to another client, or to the team, does not exist for this client. Nor does an approval as a question. */
async function requireOwnQuestion({ ctx, scope, params }: ClientFinding) {
  const approval = await findDecidableApproval(ctx.db, [scope.projectId], params.id ?? '')
  if (approval?.client_id !== scope.clientId || approval.path !== 'question') throw notFound('question')
  return approval
}

const idOf = (row: { id: string }) => row.id

/** The client plane. A client reaches only its own data; everything else is a 404. */
export const portalRoutes = nameRoutes({
  ...portalAccessRoutes,
  ...portalApprovalRoutes,
  ...portalConnectionRoutes,
  ...portalThreadRoutes,
  ...portalFileRoutes,
  getPortalClient: portalRoute('GET', '/v1/portal/me', {
    summary: 'Read the current client',
    description:
      'Name and handles, the brand of the project, and what the portal may offer: a new conversation, uploads up to `max_file_bytes`, and mails about answers (`notices`).',
    responses: { 200: PortalMeView },
    async handle({ ctx, scope }) {
      const client = await requireOwnClient(ctx, scope)
      const brand = await findBrand(ctx.db, scope.projectId)
      const address = await projectAddress(ctx.db, scope.projectId)
      const optedOut = await findNoticeOptOut(ctx.db, { client_id: scope.clientId })
      return {
        ...toPortalClientView(client),
        brand: toPublicBrandView(brand, address),
        can_start_conversation: (await findPortalChannel(ctx, brand)) !== undefined,
        max_file_bytes: currentStorage(ctx).maxBytes(ctx),
        notices: brand.notify_since === null || !hasMailAddress(client) ? null : optedOut.length === 0,
      }
    },
  }),
  listPortalQuestions: portalRoute('GET', '/v1/portal/questions', {
    summary: 'List the questions that wait for the client, newest first',
    description:
      'What agents ask this client, with the options or the schema of the answer. An answered or expired question is not in the list.',
    query: z.object(pageQueryById('apr')),
    longRead: true,
    responses: { 200: pageSchema(PortalQuestionView) },
    async handle({ ctx, scope, query }) {
      return toPage(await listClientQuestions(ctx.db, scope, query), query.limit, idOf, toPortalQuestionView)
    },
  }),
  answerPortalQuestion: portalRoute('POST', '/v1/portal/questions/:id/answer', {
    summary: 'Answer a question',
    description: 'The task continues with the answer, which must match the options or the schema of the question.',
    body: z.object({ answer: jsonValue }),
    responses: { 200: PortalOkView },
    find: requireOwnQuestion,
    async handle({ ctx, scope, subject, body }) {
      await answerQuestion(ctx, scope, subject, body.answer)
      return { ok: true }
    },
  }),
  declinePortalQuestion: portalRoute('POST', '/v1/portal/questions/:id/decline', {
    summary: 'Decline a question',
    description: 'The task continues without an answer.',
    responses: { 200: PortalOkView },
    find: requireOwnQuestion,
    async handle({ ctx, scope, subject }) {
      await rejectApproval(ctx, scope, subject, undefined)
      return { ok: true }
    },
  }),
  followPortalTask: portalRoute('GET', '/v1/portal/tasks/:id/events', {
    summary: 'Follow the events of a task of the client',
    description: 'Server-sent events without internal details. 204 if the task has ended and no event is left.',
    headers: taskStreamHeaders,
    query: TaskStreamQuery,
    responses: { 200: { eventStreamOf: EventView }, 204: z.null() },
    find: requireOwnTask,
    handle: ({ ctx, subject, request, query }) => streamTask(ctx, subject, request, query, clientFrameText),
  }),
  listPortalCases: portalRoute('GET', '/v1/portal/cases', {
    summary: "List the client's cases, newest first",
    description:
      'Title, stage and status of each case of this client. Data, history and assignee are only for the team.',
    query: z.object(pageQueryById('case')),
    longRead: true,
    responses: { 200: pageSchema(PortalCaseView) },
    async handle({ ctx, scope, query }) {
      return toPage(await listClientCases(ctx.db, scope, query), query.limit, idOf, (row) => row)
    },
  }),
  getPortalArtifact: portalRoute('GET', '/v1/portal/artifacts/:id', {
    summary: 'Download an artifact of a task of the client',
    description: 'Only files below `client/` are for the client. All others are a 404.',
    responses: { 200: '*/*' },
    find: requireOwnArtifact,
    handle: ({ ctx, subject }) => serveArtifact(ctx, subject),
  }),
})

const hasMailAddress = ({ handles }: ClientWithHandles) => handles.some((handle) => parseMailAddress(handle) !== null)
