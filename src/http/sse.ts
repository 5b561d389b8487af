import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../ctx/world.ts'
import { StreamAnswer } from './route.ts'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // nginx and others would hold events back otherwise.
  'x-accel-buffering': 'no',
}

/**
 * Streams chunks as they come and honours back-pressure: the next chunk is asked for only when the socket took the
 * last one, so a slow reader holds nothing but its own place.
 */
export function sse(
  clock: Clock,
  keepaliveMs: number,
  chunks: (gone: AbortSignal) => AsyncIterable<Buffer | string>,
): StreamAnswer {
  return new StreamAnswer(HEADERS, async (out, gone) => {
    const stop = keepaliveMs > 0 ? everySoOften(clock, keepaliveMs, () => out.write(':\n\n')) : () => {}
    // What is there at once leaves together with the head; without it the head leaves alone.
    const head = setImmediate(() => out.flushHeaders())
    try {
      for await (const chunk of chunks(gone)) {
        if (gone.aborted) return
        clearImmediate(head)
        if (!writeTogether(out, chunk)) await once(out, 'drain', { signal: gone }).catch(() => {})
      }
    } finally {
      clearImmediate(head)
      stop()
      out.end()
    }
  })
}

/** Held until the end of this turn, so that the last chunk and the end of the stream are one write. */
function writeTogether(out: ServerResponse, chunk: Buffer | string): boolean {
  out.cork()
  const room = out.write(chunk)
  process.nextTick(() => out.uncork())
  return room
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
