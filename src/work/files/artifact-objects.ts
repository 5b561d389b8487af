import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { ArtifactRow, FileRow } from '../../platform/store/tables.ts'
import { discardFile } from './delete-file.ts'
import { deleteUploadRow, insertFile } from './rows.ts'
import { currentStorage } from './storage.ts'

/** Where the bytes of new artifacts are. */
export const artifactStorage = (ctx: Ctx): ArtifactRow['storage'] => currentStorage(ctx).kind

/**
 * Artifacts in the object store. Until the end of the run is committed, and again once the artifact is deleted, a row in
 * `files` says that the object is to be removed: the cleanup of files then covers artifacts as well.
 */
export async function storeArtifactObject(ctx: Ctx, artifact: ArtifactRow, bytes: Buffer): Promise<void> {
  const upload = currentStorage(ctx).startUpload(ctx, { id: artifact.id, size: bytes.length, upload_id: null })
  await upload.write({ bytes, isLast: true }, async (tx) => {
    await insertFile(tx.db, toObjectRow(tx, artifact, 'uploading'))
  })
}

/** In the transaction that inserts the artifact: from now on the object belongs to it. */
export async function keepArtifactObject(tx: Tx, { id }: Pick<ArtifactRow, 'id'>): Promise<void> {
  await deleteUploadRow(tx.db, { id })
}

/** The run ended without its artifacts. */
export async function discardArtifactObject(ctx: Ctx, artifact: ArtifactRow): Promise<void> {
  await discardFile(ctx, toObjectRow(ctx, artifact, 'deleted'))
}

/** In the transaction that deletes the artifact. */
export async function removeArtifactObject(tx: Tx, artifact: Pick<ArtifactRow, 'id' | 'project_id'>): Promise<void> {
  await insertFile(tx.db, toObjectRow(tx, artifact, 'deleted'))
}

/** The bytes of artifacts are counted with the artifact, so the row itself counts none. */
function toObjectRow(
  ctx: Pick<Ctx, 'world'>,
  { id, project_id }: Pick<ArtifactRow, 'id' | 'project_id'>,
  state: FileRow['state'],
): FileRow {
  return {
    id,
    project_id,
    client_id: null,
    name: '',
    content_type: '',
    size: 0,
    sha256: '',
    state,
    storage: 's3',
    upload_id: null,
    created_by: JSON.stringify(SYSTEM_ACTOR),
    created_at: isoNow(ctx),
  }
}
