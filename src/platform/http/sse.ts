import type { ServerResponse } from 'node:http'
import type { Clock } from '../ctx/world.ts'
import { StreamResponse } from './route.ts'

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Without it, nginx and other proxies buffer the events.
  'x-accel-buffering': 'no',
}

/** A stream of server-sent events. It ends when `feed` returns. */
export function sseResponse(
  clock: Clock,
  keepaliveMs: number,
  feed: (client: SseClient) => Promise<void>,
): StreamResponse {
  return new StreamResponse(SSE_HEADERS, (out) => {
    const client = new SseClient(out)
    const stopKeepalive = keepaliveMs > 0 ? startInterval(clock, keepaliveMs, () => client.write(':\n\n')) : null
    return feed(client).finally(() => {
      stopKeepalive?.()
      client.end()
    })
  })
}

/**
 * The client of an event stream. While `isFull`, the writer should wait for `onDrain`, because every further write
 * stays in the memory of the server.
 */
export class SseClient {
  onDrain = () => {}
  onDisconnect = () => {}
  readonly #out: ServerResponse
  /** The first events are sent together with the headers; without any, the headers are sent alone in the next turn. */
  #headerFlush: NodeJS.Immediate | null

  constructor(out: ServerResponse) {
    this.#out = out
    this.#headerFlush = setImmediate(() => {
      this.#headerFlush = null
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
    this.#cancelHeaderFlush()
    this.#out.write(chunk)
  }

  /** The last chunk and the end of the stream are one write. */
  end(chunk: Buffer | string = ''): void {
    this.#cancelHeaderFlush()
    if (!this.isDisconnected) this.#out.end(chunk)
  }

  #cancelHeaderFlush(): void {
    if (this.#headerFlush) clearImmediate(this.#headerFlush)
    this.#headerFlush = null
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
