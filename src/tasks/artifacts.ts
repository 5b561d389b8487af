import { bytesResponse } from '../http/route.ts'

/** An agent made the file, and it may be hostile: the headers stop browsers from sniffing its type and from running it. */
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
