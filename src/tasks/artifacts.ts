import { bytesResponse } from '../http/route.ts'

/** Served as what the agent made, which may be hostile: never sniffed, never run. */
export function serveArtifact(artifact: {
  name: string
  content_type: string
  content: string | null
  output: string | null
}) {
  const content =
    artifact.content === null ? Buffer.from(artifact.output ?? 'null') : Buffer.from(artifact.content, 'base64')
  return bytesResponse(content, {
    'content-type': artifact.content_type,
    'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(artifact.name)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  })
}
