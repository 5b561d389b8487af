import type { Ctx } from '../../platform/ctx/ctx.ts'
import { createStreamingFetch } from '../../platform/egress/guarded-fetch.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { type AuthorizedRequest, authorizeRequest, renewAuthorization } from '../auth/authorize-request.ts'
import { failSession, type McpServer, type SessionState } from './session-state.ts'

/** One answer of a server. A list of tools and a result with images are larger than the result that is kept. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
/** Many pages and reconnects; a server that causes more would keep the service busy. */
const MAX_REQUESTS = 100
/** The end of a session has its own time limit, because the session may have ended by a timeout. */
const END_TIMEOUT_MS = 5_000

/** The `fetch` of one session: through the egress guard, with the credential of the connection, without redirects. */
export function createServerFetch(ctx: Ctx, server: McpServer, url: URL, state: SessionState): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    try {
      return await sendToServer(ctx, server, url, state, request)
    } catch (error) {
      // The optional stream that the client opens by GET may fail, and the session goes on.
      if (error instanceof Error && request.method === 'POST') failSession(state, error)
      throw error
    }
  }
}

async function sendToServer(
  ctx: Ctx,
  { connection, secret }: McpServer,
  url: URL,
  state: SessionState,
  request: Request,
): Promise<Response> {
  if (++state.requests > MAX_REQUESTS)
    throw new EgressError('unreadable', `the server needs more than ${MAX_REQUESTS} requests for one call`)
  const isEnd = request.method === 'DELETE'
  const outgoing = {
    method: request.method,
    url: new URL(request.url),
    headers: Object.fromEntries(request.headers),
    body: request.body ? await request.text() : undefined,
  }
  if (request.url !== url.href) throw new EgressError('blocked', 'the session may only call the address of the config')
  const fetch = createStreamingFetch(ctx, {
    signal: isEnd ? timeoutSignal(ctx, END_TIMEOUT_MS) : state.over.signal,
    maxBytes: MAX_RESPONSE_BYTES,
  })
  const send = ({ secrets, url: to, method, headers, body }: AuthorizedRequest) => {
    for (const one of secrets) state.secrets.add(one)
    return fetch(to, { method, headers, ...(body !== undefined && { body }), signal: request.signal })
  }
  const authorized = await authorizeRequest(ctx, connection, secret, outgoing)
  let response = await send(authorized)
  if (response.status === 401) {
    const renewed = await renewAuthorization(ctx, connection, secret, outgoing, authorized)
    if (renewed) response = await send(renewed)
  }
  state.isCallSeen ||= state.isCalling && request.method === 'POST'
  return request.method === 'POST' ? endSessionOnBrokenBody(response, state) : response
}

function timeoutSignal(ctx: Ctx, ms: number): AbortSignal {
  const over = new AbortController()
  ctx.world.clock.after(ms, () => over.abort())
  return over.signal
}

/** The client package would wait for the rest of a broken stream. */
function endSessionOnBrokenBody(response: Response, state: SessionState): Response {
  if (!response.body) return response
  const body = ReadableStream.from(readWatched(response.body, state))
  return new Response(body, { status: response.status, headers: response.headers })
}

async function* readWatched(body: AsyncIterable<Uint8Array>, state: SessionState): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    if (error instanceof EgressError) failSession(state, error)
    throw error
  }
}
