import type { ServerResponse } from 'node:http'
import type { Clock } from '../ctx/world.ts'
import { StreamAnswer } from './route.ts'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // nginx and others would hold events back otherwise.
  'x-accel-buffering': 'no',
}

/** A stream of events for as long as `feed` has some and the reader stays. */
export function sse(clock: Clock, keepaliveMs: number, feed: (reader: Reader) => Promise<void>): StreamAnswer {
  return new StreamAnswer(HEADERS, (out) => {
    const reader = new Reader(out)
    const stop = keepaliveMs > 0 ? everySoOften(clock, keepaliveMs, () => reader.write(':\n\n')) : null
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
export class Reader {
  onRoom = () => {}
  onGone = () => {}
  readonly #out: ServerResponse
  /** What is there at once leaves together with the head; without it the head leaves alone. */
  #head: NodeJS.Immediate | null

  constructor(out: ServerResponse) {
    this.#out = out
    this.#head = setImmediate(() => {
      this.#head = null
      out.flushHeaders()
    })
    out.on('drain', () => this.onRoom())
    out.once('close', () => this.onGone())
  }

  get isFull(): boolean {
    return this.#out.writableNeedDrain
  }

  get isGone(): boolean {
    return this.#out.writableEnded || this.#out.destroyed
  }

  write(chunk: Buffer | string): void {
    if (this.isGone || chunk.length === 0) return
    this.#keepHead()
    this.#out.write(chunk)
  }

  /** The last chunk and the end of the stream are one write. */
  end(chunk: Buffer | string = ''): void {
    this.#keepHead()
    if (!this.isGone) this.#out.end(chunk)
  }

  #keepHead(): void {
    if (this.#head) clearImmediate(this.#head)
    this.#head = null
  }
}

export const errorFrame = (message: string): string => `event: error\ndata: ${JSON.stringify({ error: message })}\n\n`

function everySoOften(clock: Clock, ms: number, call: () => void): () => void {
  let cancel = clock.after(ms, again)
  function again() {
    call()
    cancel = clock.after(ms, again)
  }
  return () => cancel()
}
