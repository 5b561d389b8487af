import { isVisibleToClient } from '../../customers/threads/append-message.ts'
import { notFound } from '../../platform/base/problem.ts'
import { findClient } from '../../customers/clients/rows.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { receiveFile } from '../../work/files/receive-file.ts'
import { UPLOAD_DESCRIPTION, uploadQuery } from '../../work/files/routes.ts'
import { findFile } from '../../work/files/rows.ts'
import { serveFile } from '../../work/files/serve-file.ts'
import { FileView, toFileView } from '../../work/files/view.ts'
import { createdResponse, type FindInput, portalRoute } from '../../platform/http/route.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { listClientMessagesWithFile } from './rows.ts'

/** A client reads what it uploaded itself, and the files of messages that it may see. */
async function requireOwnFile({ ctx, scope, params }: FindInput<ClientScope>): Promise<FileRow> {
  const file = await findFile(ctx.db, [scope.projectId], params.id ?? '')
  if (!file) throw notFound('file')
  if (file.created_by === JSON.stringify(scope.actor)) return file
  const messages = await listClientMessagesWithFile(ctx.db, { client_id: scope.clientId, file_id: file.id })
  const handles = (await findClient(ctx.db, [scope.projectId], scope.clientId))?.handles ?? []
  if (!messages.some((message) => isVisibleToClient(handles, message))) throw notFound('file')
  return file
}

export const portalFileRoutes = {
  createPortalFile: portalRoute('POST', '/v1/portal/files', {
    summary: 'Upload a file',
    description: UPLOAD_DESCRIPTION,
    query: uploadQuery,
    streamsBody: true,
    responses: { 201: FileView },
    async handle({ ctx, scope, query, request, reauthenticate }) {
      const file = await receiveFile(ctx, scope, { request: request.raw, name: query.name, reauthenticate })
      return createdResponse(`/v1/portal/files/${file.id}`, toFileView(file))
    },
  }),
  getPortalFile: portalRoute('GET', '/v1/portal/files/:id', {
    summary: 'Download a file of the client',
    description: 'A file that the client uploaded, or one of a message in its threads. All others are a 404.',
    responses: { 200: '*/*' },
    find: requireOwnFile,
    handle: ({ ctx, subject }) => serveFile(ctx, subject),
  }),
}
