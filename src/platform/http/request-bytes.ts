import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { badRequest, Problem, tooLarge } from '../base/problem.ts'
import type { Clock } from '../ctx/world.ts'
import { respondToMalformedRequest } from './malformed-request.ts'

/** How long the sender of a large body may pause. */
const MAX_PAUSE_MS = 60_000

/** The whole body of most routes. Undefined if there is none; a 413 as soon as it is larger than the limit. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && Number(length) === 0) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    const refuse = (problem: Problem) => {
      request.off('data', keep)
      reject(problem)
    }
    const keep = (piece: Buffer) => {
      size += piece.length
      pieces.push(piece)
      if (size > maxBytes) refuse(bodyTooLarge(maxBytes))
    }
    if (Number(length) > maxBytes) return refuse(bodyTooLarge(maxBytes))
    request.on('data', keep)
    request.once('end', () => resolve(Buffer.concat(pieces)))
    request.once('error', () => refuse(brokenOff()))
  })
}

/** Closes the connection, because the client may send more. */
function bodyTooLarge(maxBytes: number): Problem {
  const limit = maxBytes >= MEBIBYTE ? `${maxBytes / MEBIBYTE} MiB` : `${maxBytes / 1024} KiB`
  return new Problem(413, `body is larger than ${limit}`, { headers: { connection: 'close' } })
}

const MEBIBYTE = 1024 * 1024
const UNAUTHENTICATED_BODY_TIMEOUT_MS = 10_000

/** Slow senders could otherwise hold many connections open, above all those without a valid credential. */
export function limitBodyTime(clock: Clock, request: IncomingMessage, ms = UNAUTHENTICATED_BODY_TIMEOUT_MS): void {
  const refuse = () => {
    if (!request.complete) respondToMalformedRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, request.socket)
  }
  request.once('close', clock.after(ms, refuse))
}

/**
 * The whole body of a route with `streamsBody`; a 413 as soon as it is larger than the limit. Memory is taken as the bytes
 * arrive, because a length can be declared without sending anything. `reserve` gets the number of bytes before they are
 * taken, and may throw; a negative number gives memory back.
 */
export async function readRequestBytes(
  request: IncomingMessage,
  maxBytes: number,
  reserve: (bytes: number) => void = () => {},
): Promise<Buffer> {
  const blocks: Block[] = []
  let total = 0
  for await (const piece of streamRequestBytes(request, maxBytes)) {
    const copied = fillBlock(blocks.at(-1), piece)
    if (copied < piece.length) {
      const size = Math.max(piece.length - copied, MIN_BLOCK_BYTES, Math.min(total, MAX_BLOCK_BYTES))
      reserve(size)
      const block = { bytes: Buffer.allocUnsafeSlow(size), filled: 0 }
      fillBlock(block, piece.subarray(copied))
      blocks.push(block)
    }
    total += piece.length
  }
  const [first] = blocks
  if (blocks.length <= 1) return first?.bytes.subarray(0, total) ?? Buffer.alloc(0)
  const inBlocks = blocks.reduce((sum, { bytes }) => sum + bytes.length, 0)
  reserve(total)
  const whole = await joinBlocks(blocks, total)
  reserve(-inBlocks)
  return whole
}

/** Pieces are copied into blocks, because a body of very many tiny pieces would need far more memory than its bytes. */
interface Block {
  bytes: Buffer
  filled: number
}

const MIN_BLOCK_BYTES = 1024
const MAX_BLOCK_BYTES = 1024 * 1024

/** Returns how many bytes of the piece were copied. */
function fillBlock(block: Block | undefined, piece: Buffer): number {
  if (!block) return 0
  const copied = piece.copy(block.bytes, block.filled)
  block.filled += copied
  return copied
}

/** Other requests run after each block: to join 50 MB at once would hold the event loop for 40 ms. */
async function joinBlocks(blocks: Block[], total: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(total)
  let filled = 0
  for (let block = blocks.shift(); block; block = blocks.shift()) {
    filled += block.bytes.copy(whole, filled, 0, block.filled)
    if (block.filled >= MAX_BLOCK_BYTES / 2) await setImmediate()
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
