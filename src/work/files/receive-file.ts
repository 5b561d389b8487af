import type { IncomingMessage } from 'node:http'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { isMultipart, readMultipartFile } from '../../platform/http/multipart-file.ts'
import { streamRequestBytes } from '../../platform/http/request-bytes.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { currentStorage } from './storage.ts'
import { type FileOwner, storeFile } from './store-file.ts'

interface Upload {
  request: IncomingMessage
  /** The name from the query. */
  name: string | undefined
  reauthenticate: () => Promise<unknown>
}

/** Stores the file of a request: the field `file` of a form, or the whole body under the name of the query. */
export async function receiveFile(
  ctx: Ctx,
  owner: FileOwner,
  { request, name, reauthenticate }: Upload,
): Promise<FileRow> {
  const maxBytes = currentStorage(ctx).maxBytes(ctx)
  const contentType = request.headers['content-type']
  if (isMultipart(contentType)) {
    const { bytes, ...sent } = await readMultipartFile(request, maxBytes, ctx.world.clock)
    return storeFile(ctx, owner, { ...sent, ...(name !== undefined && { name }) }, thenCheck(bytes, reauthenticate))
  }
  if (name === undefined) throw badRequest("query 'name' is required")
  const bytes = streamRequestBytes(request, maxBytes, ctx.world.clock)
  return storeFile(ctx, owner, { name, contentType }, thenCheck(bytes, reauthenticate))
}

/** The credential may have been revoked while the body was on its way. */
async function* thenCheck(bytes: AsyncIterable<Buffer>, check: () => Promise<unknown>): AsyncGenerator<Buffer> {
  yield* bytes
  await check()
}
