import type { IncomingMessage } from 'node:http'
import { badRequest, tooLarge } from '../base/problem.ts'

/** The whole body of a route with `streamsBody`; a 413 as soon as it is larger than the limit. */
export async function readRequestBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of streamRequestBytes(request, maxBytes)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** The body of a route with `streamsBody`, piece by piece; throws a 413 after the limit and a 400 if it breaks off. */
export async function* streamRequestBytes(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(describeLimit(maxBytes))
  let size = 0
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > maxBytes) throw tooLarge(describeLimit(maxBytes))
    yield piece
  }
  if (!request.complete) throw badRequest('the request ended before its body was complete')
}

const describeLimit = (maxBytes: number) =>
  `the body is larger than ${maxBytes >= 1024 * 1024 ? `${Math.floor(maxBytes / 1024 / 1024)} MiB` : `${maxBytes} bytes`}`
