import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { deleteFileChunks, findFileChunk, insertFileChunk } from './rows.ts'
import type { FileStorage, FileUpload, StoredObject } from './storage.ts'

/** Large files would make backups of the database slow, so they need an object store. */
const MAX_DATABASE_FILE_MB = 10

/** The bytes of a file as rows of one piece each, so that no statement has to hold a whole file. */
export const databaseStorage: FileStorage = {
  kind: 'database',
  maxBytes: ({ config }) => Math.min(config.fileMaxMb, MAX_DATABASE_FILE_MB) * 1024 * 1024,
  pieceBytes: 1024 * 1024,
  startUpload: startDatabaseUpload,
  read: readChunks,
  remove: (ctx, { id }) => inTx(ctx, async (tx) => void (await deleteFileChunks(tx.db, { file_id: id }))),
}

function startDatabaseUpload(ctx: Ctx, { id }: StoredObject): FileUpload {
  let n = 0
  return {
    async write({ bytes }, reserve) {
      await inTx(ctx, async (tx) => {
        await reserve(tx)
        await insertFileChunk(tx.db, { file_id: id, n, content: bytes.toString('base64') })
      })
      n++
    },
  }
}

async function* readChunks(ctx: Ctx, { id, size }: StoredObject): AsyncGenerator<Buffer> {
  let read = 0
  for (let n = 0; read < size; n++) {
    const [chunk] = await findFileChunk(ctx.db, { file_id: id, n })
    if (!chunk) throw new Error(`file ${id} was deleted while it was read`)
    const bytes = Buffer.from(chunk.content, 'base64')
    read += bytes.length
    yield bytes
  }
}
