import { z } from 'zod'
import { filterParam, pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import {
  createdResponse,
  defineRead,
  defineWrite,
  findInScope,
  nameRoutes,
  noContentResponse,
} from '../../platform/http/route.ts'
import { deleteFile } from './delete-file.ts'
import { receiveFile } from './receive-file.ts'
import { findFile, listFiles } from './rows.ts'
import { serveFile } from './serve-file.ts'
import { FileView, toFileView } from './view.ts'

const fileInScope = findInScope('file', findFile)

/** The name of an uploaded file, which a body without a form cannot carry. */
export const uploadQuery = z.object({
  name: z.string().min(1, 'must not be empty').max(1000).optional().meta({
    description: 'The name of the file. Required unless the body is a form.',
  }),
})

export const UPLOAD_DESCRIPTION =
  'The body is the file itself, with its `content-type` and `?name=`, or `multipart/form-data` with the field `file`.'

export const fileRoutes = nameRoutes({
  createFile: defineWrite('POST', '/v1/files', {
    summary: 'Upload a file',
    description: UPLOAD_DESCRIPTION,
    query: uploadQuery,
    streamsBody: true,
    responses: { 201: FileView },
    async handle({ ctx, scope, query, request, reauthenticate }) {
      const owner = { projectId: scope.projectId, clientId: null, actor: scope.actor }
      const file = await receiveFile(ctx, owner, { request: request.raw, name: query.name, reauthenticate })
      return createdResponse(`/v1/files/${file.id}/meta`, toFileView(file))
    },
  }),

  listFiles: defineRead('/v1/files', {
    summary: 'List files, newest first',
    description:
      'Uploads of the team, of clients and of runs, without their bytes. With `client_id` only those of one client.',
    query: z.object({ client_id: filterParam, ...pageQueryById('file') }),
    longRead: true,
    responses: { 200: pageSchema(FileView) },
    async handle({ ctx, scope, query }) {
      const files = await listFiles(ctx.db, scope.projectIds, query)
      return toPage(files, query.limit, (file) => file.id, toFileView)
    },
  }),

  getFile: defineRead('/v1/files/:id', {
    summary: 'Download a file',
    description:
      'The bytes, with the type that was uploaded. Types that a browser could execute, such as HTML and SVG, are sent as downloads, and no cache may keep them.',
    responses: { 200: '*/*' },
    find: fileInScope,
    handle: ({ ctx, subject }) => serveFile(ctx, subject),
  }),

  getFileMeta: defineRead('/v1/files/:id/meta', {
    summary: 'Read what is known about a file',
    description: 'Name, type, size and SHA-256, without the bytes. `GET /v1/files/{id}` has those.',
    responses: { 200: FileView },
    find: fileInScope,
    handle: async ({ subject }) => toFileView(subject),
  }),

  deleteFile: defineWrite('DELETE', '/v1/files/:id', {
    summary: 'Delete a file',
    description: 'Tasks and messages that used it no longer show it.',
    responses: { 204: z.null() },
    find: fileInScope,
    async handle({ ctx, scope, subject }) {
      await deleteFile(ctx, scope.actor, subject)
      return noContentResponse()
    },
  }),
})
