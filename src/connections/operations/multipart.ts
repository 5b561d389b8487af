import { hash } from 'node:crypto'

/** One part of a multipart body. A part with a file name is a file. */
export interface MultipartPart {
  name: string
  content: string | Buffer
  filename?: string
  contentType?: string
}

export function encodeMultipart(parts: MultipartPart[]): { body: Buffer; contentType: string } {
  const contents = parts.map((part) => Buffer.concat([Buffer.from(partHead(part)), Buffer.from(part.content)]))
  // A text cannot contain its own hash, so no value can end its part.
  const boundary = `svc-${hash('sha256', Buffer.concat(contents))}`
  const pieces = contents.flatMap((content) => [Buffer.from(`--${boundary}\r\n`), content, Buffer.from('\r\n')])
  return {
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  }
}

function partHead({ name, filename, contentType }: MultipartPart): string {
  const file = filename === undefined ? '' : `; filename="${escapeName(filename)}"`
  const type = contentType === undefined ? '' : `content-type: ${contentType}\r\n`
  return `content-disposition: form-data; name="${escapeName(name)}"${file}\r\n${type}\r\n`
}

/** As browsers do it. */
const escapeName = (name: string): string => name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
