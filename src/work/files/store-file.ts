import { createHash } from 'node:crypto'
import { lockClient } from '../../identity/organisations/project-client-rows.ts'
import { refuseIfStorageFull, reserveStoredBytes } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, tooLarge, tooManyRequests } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { detectContentType } from './content-type.ts'
import { discardFile } from './delete-file.ts'
import { cleanFileName } from './file-name.ts'
import { hashInTurns } from './hash-in-turns.ts'
import { addFileSize, insertFile, sumClientFileBytes, updateFileStored } from './rows.ts'
import { currentStorage, type FilePiece, type FileStorage } from './storage.ts'

/** Whose file it is, and who brings it in. Files without a client are the team's. */
export interface FileOwner {
  projectId: string
  clientId: string | null
  actor: Actor
}

/** What the sender says about a file. */
interface FileHead {
  name: string
  contentType?: string | undefined
}

/**
 * Stores a file as its bytes arrive, a few megabytes at a time. Callers see it when all bytes are stored. If they end
 * with an error, what was stored is removed; if the process dies, the cleanup removes it later. Not inside a transaction.
 */
export async function storeFile(
  ctx: Ctx,
  owner: FileOwner,
  head: FileHead,
  bytes: AsyncIterable<Buffer>,
): Promise<FileRow> {
  refuseIfStorageFull(ctx, owner.projectId)
  const storage = currentStorage(ctx)
  const file = newFile(ctx, owner, head, storage)
  try {
    const sha256 = await writePieces(ctx, storage, file, head, limitBytes(bytes, storage.maxBytes(ctx)))
    return await inTx(ctx, (tx) => finishUpload(tx, owner.actor, file, sha256))
  } catch (error) {
    // The store may be away as well; then the cleanup removes the bytes, and the caller gets the first error.
    await discardFile(ctx, file).catch(() => {})
    throw error
  }
}

function newFile(ctx: Ctx, { projectId, clientId, actor }: FileOwner, head: FileHead, { kind }: FileStorage): FileRow {
  return {
    id: ctx.world.newId('file'),
    project_id: projectId,
    client_id: clientId,
    name: cleanFileName(head.name),
    content_type: '',
    size: 0,
    sha256: '',
    state: 'uploading',
    storage: kind,
    upload_id: null,
    created_by: JSON.stringify(actor),
    created_at: isoNow(ctx),
  }
}

/** Returns the hash of all bytes. */
async function writePieces(
  ctx: Ctx,
  storage: FileStorage,
  file: FileRow,
  head: FileHead,
  bytes: AsyncIterable<Buffer>,
): Promise<string> {
  const hash = createHash('sha256')
  const upload = storage.startUpload(ctx, file)
  let isFirst = true
  for await (const piece of toPieces(bytes, storage.pieceBytes)) {
    await hashInTurns(hash, piece.bytes)
    const size = piece.bytes.length
    if (isFirst) {
      const first = { ...file, size, content_type: detectContentType(piece.bytes, file.name, head.contentType) }
      await upload.write(piece, (tx) => reserveFirstPiece(tx, first))
    } else {
      await upload.write(piece, (tx) => reservePiece(tx, file, size))
    }
    isFirst = false
  }
  return hash.digest('hex')
}

/** Of concurrent uploads of one client only those are stored that fit together. */
async function requireClientRoom(tx: Tx, clientId: string | null, bytes: number): Promise<void> {
  const { maxClientMb } = tx.config
  if (clientId === null || maxClientMb === 0) return
  await lockClient(tx.db, clientId)
  if ((await sumClientFileBytes(tx.db, clientId)) + bytes > maxClientMb * 1024 * 1024)
    throw tooManyRequests(
      `the files of the client take more than ${maxClientMb} MB (SVC_MAX_CLIENT_MB): delete some of them`,
      60,
    )
}

async function reserveFirstPiece(tx: Tx, file: FileRow): Promise<void> {
  await requireClientRoom(tx, file.client_id, file.size)
  await insertFile(tx.db, file)
  reserveStoredBytes(tx, file.project_id, file.size)
}

async function reservePiece(tx: Tx, { id, project_id, client_id }: FileRow, bytes: number): Promise<void> {
  await requireClientRoom(tx, client_id, bytes)
  const [grown] = await addFileSize(tx.db, { id, bytes })
  if (!grown) throw uploadGivenUp()
  reserveStoredBytes(tx, project_id, bytes)
}

async function finishUpload(tx: Tx, actor: Actor, { id }: FileRow, sha256: string): Promise<FileRow> {
  const [file] = await updateFileStored(tx.db, { id, sha256 })
  if (!file) throw uploadGivenUp()
  const { project_id, client_id, size } = file
  await appendAuditEntry(tx, project_id, actor, 'file.created', id, { sha256, size, client_id })
  return file
}

const uploadGivenUp = () => conflict('the file was deleted while it was uploaded')

async function* limitBytes(bytes: AsyncIterable<Buffer>, max: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > max) throw tooLarge(`the file is larger than ${Math.floor(max / 1024 / 1024)} MiB`)
    yield piece
  }
}

/** Joins and cuts the bytes into pieces of one size. An empty file is one empty piece. */
export async function* toPieces(bytes: AsyncIterable<Buffer>, size: number): AsyncGenerator<FilePiece> {
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const arrived of bytes) {
    for (let rest = arrived; rest.length > 0; ) {
      // A full piece is passed on only when more bytes arrive: until then it may be the last one.
      if (heldBytes === size) {
        yield { bytes: Buffer.concat(held), isLast: false }
        held = []
        heldBytes = 0
      }
      const taken = rest.subarray(0, size - heldBytes)
      held.push(taken)
      heldBytes += taken.length
      rest = rest.subarray(taken.length)
    }
  }
  yield { bytes: Buffer.concat(held), isLast: true }
}
