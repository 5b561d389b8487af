import type { ServerResponse } from 'node:http'
import type { Clock } from '../ctx/world.ts'
import { StreamResponse } from './route.ts'

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // nginx and others would hold events back otherwise.
  'x-accel-buffering': 'no',
}

/** A stream of events for as long as `feed` has some and the reader stays. */
export function sseResponse(
  clock: Clock,
  keepaliveMs: number,
  feed: (reader: SseClient) => Promise<void>,
): StreamResponse {
  return new StreamResponse(SSE_HEADERS, (out) => {
    const reader = new SseClient(out)
    const stop = keepaliveMs > 0 ? startInterval(clock, keepaliveMs, () => reader.write(':\n\n')) : null
    return feed(reader).finally(() => {
      stop?.()
      reader.end()
    })
  })
}

/**
 * The reader of a stream as its writer sees it. Whoever writes to a full one only fills the memory: it shall wait for
 * `onRoom`, so that a slow reader holds nothing but its own place.
 */
export class SseClient {
  onDrain = () => {}
  onDisconnect = () => {}
  readonly #out: ServerResponse
  /** What is there at once leaves together with the head; without it the head leaves alone. */
  #head: NodeJS.Immediate | null

  constructor(out: ServerResponse) {
    this.#out = out
    this.#head = setImmediate(() => {
      this.#head = null
      out.flushHeaders()
    })
    out.on('drain', () => this.onDrain())
    out.once('close', () => this.onDisconnect())
  }

  get isFull(): boolean {
    return this.#out.writableNeedDrain
  }

  get isDisconnected(): boolean {
    return this.#out.writableEnded || this.#out.destroyed
  }

  write(chunk: Buffer | string): void {
    if (this.isDisconnected || chunk.length === 0) return
    this.#keepHead()
    this.#out.write(chunk)
  }

  /** The last chunk and the end of the stream are one write. */
  end(chunk: Buffer | string = ''): void {
    this.#keepHead()
    if (!this.isDisconnected) this.#out.end(chunk)
  }

  #keepHead(): void {
    if (this.#head) clearImmediate(this.#head)
    this.#head = null
  }
}

export const sseErrorFrame = (message: string): string =>
  `event: error\ndata: ${JSON.stringify({ error: message })}\n\n`

function startInterval(clock: Clock, ms: number, call: () => void): () => void {
  let cancel = clock.after(ms, again)
  function again() {
    call()
    cancel = clock.after(ms, again)
  }
  return () => cancel()
}
