import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy'
import { BoundaryCounter, requireFormBoundary } from '../base/parse-form.ts'
import { badRequest, Problem } from '../base/problem.ts'
import type { Clock } from '../ctx/world.ts'
import { streamRequestBytes } from './request-bytes.ts'

export interface MultipartFile {
  name: string
  contentType: string
  /** Ends only after the whole body was valid; until then the file must not count as complete. */
  bytes: AsyncIterable<Buffer>
}

/** What a form may have beside its file, and the frame around it. Each part takes time, also if it is ignored. */
const MAX_OTHER_BYTES = 64 * 1024
const MAX_PARTS = 100
const MAX_PART_HEADERS = 50

export const isMultipart = (contentType: string | undefined): boolean =>
  /^multipart\/form-data\b/i.test(contentType ?? '')

/** The file in the field `file` of a form. Other fields are ignored. */
export async function readMultipartFile(
  request: IncomingMessage,
  maxBytes: number,
  clock: Clock,
): Promise<MultipartFile> {
  const parser = await createParser(request)
  const upload: FormUpload = { parser, parsed: Promise.resolve(), files: 0 }
  const found = new Promise<MultipartFile>((resolve) => {
    parser.on(
      'file',
      (field: string, stream: BusboyFileStream, name: string, _encoding: string, contentType: string) => {
        // The reader of the bytes gets the error.
        stream.on('error', () => {})
        if (field !== 'file' || upload.files++ > 0) stream.resume()
        else resolve({ name: name ?? '', contentType, bytes: readFileBytes(upload, stream) })
      },
    )
  })
  const bytes = limitParts(request, streamRequestBytes(request, maxBytes + MAX_OTHER_BYTES, clock))
  upload.parsed = pipeline(bytes, parser).catch((error: unknown) => {
    throw toFormProblem(error)
  })
  const missing = upload.parsed.then(() => {
    throw badRequest("field 'file' is required")
  })
  // Once the file is found, the reader of the bytes awaits `parsed`.
  missing.catch(() => {})
  return Promise.race([found, missing])
}

/** The parser itself would go on to read millions of tiny parts. */
async function* limitParts({ headers }: IncomingMessage, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const parts = new BoundaryCounter(requireFormBoundary(headers['content-type'] ?? ''), MAX_PARTS)
  for await (const piece of bytes) {
    parts.count(piece)
    yield piece
  }
}

interface FormUpload {
  parser: BusboyInstance
  /** Settles when the whole body was read. */
  parsed: Promise<void>
  files: number
}

async function createParser({ headers }: IncomingMessage): Promise<BusboyInstance> {
  const { Busboy } = await import('@fastify/busboy')
  const limits = {
    files: MAX_PARTS,
    fields: MAX_PARTS,
    headerPairs: MAX_PART_HEADERS,
    fieldSize: MAX_OTHER_BYTES,
  }
  try {
    return new Busboy({ headers: { ...headers, 'content-type': headers['content-type'] ?? '' }, limits })
  } catch (error) {
    throw toFormProblem(error)
  }
}

async function* readFileBytes(upload: FormUpload, stream: BusboyFileStream): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>
    // A form that breaks off may end the file like a complete one, so only the end of the whole body counts.
    await upload.parsed
  } catch (error) {
    throw toFormProblem(error)
  } finally {
    upload.parser.destroy()
  }
  if (upload.files > 1) throw badRequest("field 'file' must not be repeated: upload one file per request")
}

function toFormProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return badRequest('the body is not a valid multipart form')
}
