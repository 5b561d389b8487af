import type { ServerResponse } from 'node:http'
import type { HttpServer } from './server.ts'

/** How long a response may take after the server has stopped to accept connections. */
const FINISH_TIMEOUT_MS = 2_000
/** How long event streams may still deliver events. */
const LAST_EVENTS_MS = 500

/**
 * Prepares a server to close without cutting a response. While `isDraining` returns true, responses close their
 * connections, so that pooled clients connect to another replica. The returned function closes the server: it ends event
 * streams, whose clients connect again, and waits for the other responses.
 */
export function closeWithoutResets(app: HttpServer, isDraining: () => boolean): () => Promise<void> {
  const open = new Set<ServerResponse>()
  app.server.prependListener('request', (_request, response: ServerResponse) => {
    if (isDraining()) response.setHeader('connection', 'close')
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  return async () => {
    const closed = app.close()
    await waitForStreams(() => [...open].some(isEventStream))
    for (const response of open) if (isEventStream(response)) response.end()
    const cut = setTimeout(() => app.server.closeAllConnections(), FINISH_TIMEOUT_MS)
    await closed
    clearTimeout(cut)
  }
}

/** The streams of tasks that have just ended deliver their last events and end by themselves. */
async function waitForStreams(isOpen: () => boolean): Promise<void> {
  const end = Date.now() + LAST_EVENTS_MS
  while (isOpen() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Event streams. Their clients connect again when they end; the end of a file would make it look complete. */
const eventStreams = new WeakSet<ServerResponse>()

export const markEventStream = (response: ServerResponse): void => void eventStreams.add(response)
const isEventStream = (response: ServerResponse): boolean => eventStreams.has(response)
