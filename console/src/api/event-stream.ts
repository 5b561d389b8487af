import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { fetchResponse } from './http.ts'

/**
 * Reads a stream of server-sent events to its end. EventSource cannot send an Authorization header, so this uses fetch
 * and a parser. To resume, the caller calls again with the last id.
 */
export async function readStream(
  path: string,
  onEvent: (event: EventSourceMessage) => void,
  { signal, lastEventId, onOpen }: { signal: AbortSignal; lastEventId?: number; onOpen?: () => void },
): Promise<void> {
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId ? { 'last-event-id': String(lastEventId) } : {}),
  }
  const response = await fetchResponse(path, { headers, signal })
  onOpen?.()
  const parser = createParser({ onEvent })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) parser.feed(piece.value)
}

/** Resolves after the time, or early when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
