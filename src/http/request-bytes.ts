import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { badRequest, tooLarge } from '../base/problem.ts'
import type { Clock } from '../ctx/world.ts'
import { respondToMalformedRequest } from './malformed-request.ts'

/** How long the sender of a large body may pause. */
const MAX_PAUSE_MS = 60_000

/** The whole body of a route with `streamsBody`; a 413 as soon as it is larger than the limit. */
export async function readRequestBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces = streamRequestBytes(request, maxBytes)
  const declared = request.headers['content-length']
  return declared === undefined ? joinPieces(pieces) : fillBuffer(pieces, Number(declared))
}

/** To join the pieces of 50 MB at the end would hold the event loop for 40 ms, and more until their memory is free again. */
async function fillBuffer(pieces: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  let whole: Buffer | null = null
  let filled = 0
  for await (const piece of pieces) {
    whole ??= Buffer.allocUnsafeSlow(size)
    filled += piece.copy(whole, filled)
  }
  return whole?.subarray(0, filled) ?? Buffer.alloc(0)
}

/** Other requests get a turn after each megabyte. */
const BYTES_PER_TURN = 1024 * 1024

async function joinPieces(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const arrived: Buffer[] = []
  for await (const piece of pieces) arrived.push(piece)
  const whole = Buffer.allocUnsafeSlow(arrived.reduce((sum, { length }) => sum + length, 0))
  let filled = 0
  let nextTurn = BYTES_PER_TURN
  for (const piece of arrived) {
    if (filled >= nextTurn) {
      await setImmediate()
      nextTurn = filled + BYTES_PER_TURN
    }
    filled += piece.copy(whole, filled)
  }
  return whole
}

/**
 * The body of a route with `streamsBody`, piece by piece; throws a 413 after the limit and a 400 if it breaks off. With a
 * clock, a sender that pauses for a minute is disconnected; the time that the reader takes does not count.
 */
export async function* streamRequestBytes(
  request: IncomingMessage,
  maxBytes: number,
  clock?: Clock,
): AsyncGenerator<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(describeLimit(maxBytes))
  const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>
  let size = 0
  try {
    for (;;) {
      const next = await nextPiece(request, pieces, clock)
      if (next.done) break
      size += next.value.length
      if (size > maxBytes) throw tooLarge(describeLimit(maxBytes))
      yield next.value
    }
    if (!request.complete) throw brokenOff()
  } finally {
    if (!request.complete) await skipRest(request, pieces)
  }
}

/** Otherwise the next request of the connection would never be read. */
async function skipRest(request: IncomingMessage, pieces: AsyncIterableIterator<Buffer>): Promise<void> {
  await pieces.return?.()
  request.resume()
}

async function nextPiece(
  request: IncomingMessage,
  pieces: AsyncIterableIterator<Buffer>,
  clock: Clock | undefined,
): Promise<IteratorResult<Buffer>> {
  const disconnect = () => respondToMalformedRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, request.socket)
  const cancel = clock?.after(MAX_PAUSE_MS, disconnect)
  try {
    return await pieces.next()
  } catch {
    throw brokenOff()
  } finally {
    cancel?.()
  }
}

const brokenOff = () => badRequest('the request ended before its body was complete')

const describeLimit = (maxBytes: number) =>
  `the body is larger than ${maxBytes >= 1024 * 1024 ? `${Math.floor(maxBytes / 1024 / 1024)} MiB` : `${maxBytes} bytes`}`
