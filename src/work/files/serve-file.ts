import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { disconnectSignal, StreamResponse } from '../../platform/http/route.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { storageOf, type StoredObject } from './storage.ts'

/** Types that a browser may show. All others are downloaded: HTML, SVG and scripts would run in the page of the service. */
const SHOWN_TYPES =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|application\/(?:pdf|json)|text\/(?:plain|csv|markdown)|audio\/[a-z0-9]+|video\/[a-z0-9]+)$/

/** Somebody else made the file, and it may be hostile: the headers stop browsers from sniffing its type and from running it. */
export function fileHeaders({ name, content_type }: Pick<FileRow, 'name' | 'content_type'>): Record<string, string> {
  const type = content_type.split(';')[0]?.trim().toLowerCase() ?? ''
  const disposition = SHOWN_TYPES.test(type) ? 'inline' : 'attachment'
  return {
    'content-type': content_type,
    'content-disposition': `${disposition}; filename*=UTF-8''${encodeName(name)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, no-store',
  }
}

/** As RFC 8187 wants it: `encodeURIComponent` leaves five characters that the header does not allow. */
const encodeName = (name: string) =>
  encodeURIComponent(name).replaceAll(/['()*!]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)

/** Text without a character set is most likely UTF-8, and browsers would guess otherwise. */
export function serveFile(ctx: Ctx, file: FileRow): Promise<StreamResponse> {
  const { content_type } = file
  return streamFile(ctx, {
    ...file,
    content_type: content_type.startsWith('text/') ? `${content_type}; charset=utf-8` : content_type,
  })
}

/** The bytes of a file or an artifact. The first ones are read before the response starts, so a storage that is away is an error. */
export async function streamFile(
  ctx: Ctx,
  file: StoredObject & Pick<FileRow, 'name' | 'content_type' | 'storage'>,
): Promise<StreamResponse> {
  const bytes = storageOf(file).read(ctx, file)[Symbol.asyncIterator]()
  const first = await bytes.next()
  const headers = { ...fileHeaders(file), 'content-length': String(file.size) }
  return new StreamResponse(headers, (out) => writeBytes(first, bytes, out), 'destroy')
}

async function writeBytes(first: IteratorResult<Buffer>, bytes: AsyncIterator<Buffer>, out: ServerResponse) {
  const disconnected = disconnectSignal(out)
  try {
    for (let next = first; !next.done; next = await bytes.next()) {
      if (disconnected.aborted) return
      if (!out.write(next.value)) await once(out, 'drain', { signal: disconnected }).catch(() => {})
    }
    out.end()
  } finally {
    // Closes the connection to the storage if the caller has gone.
    await bytes.return?.()
  }
}
