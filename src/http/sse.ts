import { once } from 'node:events'
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
    out.flushHeaders()
    const stop = keepaliveMs > 0 ? everySoOften(clock, keepaliveMs, () => out.write(':\n\n')) : () => {}
    try {
      for await (const chunk of chunks(gone)) {
        if (gone.aborted) return
        if (!out.write(chunk)) await once(out, 'drain', { signal: gone }).catch(() => {})
      }
    } finally {
      stop()
      out.end()
    }
  })
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
