import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { updateFileUploadId } from './rows.ts'
import { readS3Object, sendS3Request, xmlText } from './s3-client.ts'
import type { FilePiece, FileStorage, FileUpload, StoredObject } from './storage.ts'

/**
 * The bytes of a file as one object. A file of more than one piece is uploaded in parts, and the object appears when all
 * parts are there. The id of such an upload is in the row of the file, so that the cleanup can abort it.
 */
export const s3Storage: FileStorage = {
  kind: 's3',
  maxBytes: ({ config }) => config.fileMaxMb * 1024 * 1024,
  pieceBytes: 8 * 1024 * 1024,
  startUpload: startS3Upload,
  read: readObject,
  async remove(ctx, { id, upload_id }) {
    if (upload_id !== null) await sendS3Request(ctx, { method: 'DELETE', id, query: { uploadId: upload_id } })
    await sendS3Request(ctx, { method: 'DELETE', id })
  },
}

function startS3Upload(ctx: Ctx, { id }: StoredObject): FileUpload {
  let uploadId: string | null = null
  const etags: string[] = []
  return {
    async write(piece, reserve) {
      await inTx(ctx, reserve)
      if (uploadId === null && piece.isLast) return putObject(ctx, id, piece)
      uploadId ??= await startMultipartUpload(ctx, id)
      etags.push(await putPart(ctx, id, uploadId, etags.length + 1, piece))
      if (piece.isLast) await completeUpload(ctx, id, uploadId, etags)
    },
  }
}

async function putObject(ctx: Ctx, id: string, { bytes }: FilePiece): Promise<void> {
  await sendS3Request(ctx, { method: 'PUT', id, body: bytes })
}

async function startMultipartUpload(ctx: Ctx, id: string): Promise<string> {
  const { body } = await sendS3Request(ctx, { method: 'POST', id, query: { uploads: '' } })
  const uploadId = xmlText(body.toString(), 'UploadId')
  if (!uploadId) throw new Error('the object store returned no upload id')
  await inTx(ctx, async (tx) => void (await updateFileUploadId(tx.db, { id, upload_id: uploadId })))
  return uploadId
}

async function putPart(ctx: Ctx, id: string, uploadId: string, n: number, { bytes }: FilePiece): Promise<string> {
  const query = { partNumber: String(n), uploadId }
  const { headers } = await sendS3Request(ctx, { method: 'PUT', id, query, body: bytes })
  if (!headers.etag) throw new Error('the object store returned no etag for a part')
  return headers.etag
}

async function completeUpload(ctx: Ctx, id: string, uploadId: string, etags: readonly string[]): Promise<void> {
  const parts = etags.map((etag, i) => {
    const quoted = etag.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
    return `<Part><PartNumber>${i + 1}</PartNumber><ETag>${quoted}</ETag></Part>`
  })
  const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/'
  const body = Buffer.from(`<CompleteMultipartUpload xmlns="${namespace}">${parts.join('')}</CompleteMultipartUpload>`)
  const response = await sendS3Request(ctx, { method: 'POST', id, query: { uploadId }, body })
  // Amazon starts the response with 200 before it has joined the parts, so an error may follow.
  const code = xmlText(response.body.toString(), 'Code')
  if (code !== undefined) throw new Error(`the object store could not join the parts of a file: ${code}`)
}

async function* readObject(ctx: Ctx, { id, size }: StoredObject): AsyncGenerator<Buffer> {
  let read = 0
  for await (const bytes of readS3Object(ctx, id, size)) {
    read += bytes.length
    yield bytes
  }
  if (read !== size) throw new Error(`file ${id} has ${read} bytes in the object store instead of ${size}`)
}
