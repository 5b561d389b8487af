import type { Ctx } from '../../platform/ctx/ctx.ts'
import { fileHeaders, streamFile } from '../files/serve-file.ts'
import { bytesResponse } from '../../platform/http/route.ts'
import type { ArtifactRow } from '../../platform/store/tables.ts'

type ServedArtifact = Pick<ArtifactRow, 'id' | 'name' | 'content_type' | 'size' | 'storage'> & {
  content: string | null
  output: string | null
}

/** An artifact without content of its own is `output.json`, which is the output of its task. */
export function serveArtifact(ctx: Ctx, artifact: ServedArtifact) {
  if (artifact.storage === 's3') return streamFile(ctx, { ...artifact, upload_id: null })
  const { content, output } = artifact
  const bytes = content === null ? Buffer.from(output ?? 'null') : Buffer.from(content, 'base64')
  return Promise.resolve(bytesResponse(bytes, fileHeaders(artifact)))
}
