import type { IncomingHttpHeaders } from 'node:http'
import type { Ctx } from '../ctx/ctx.ts'
import { CALL_TIMEOUT_MS, createEgressClient, type EgressOptions, MAX_CALL_BYTES } from './http-client.ts'

/**
 * A `fetch` for libraries that make their own requests, such as an OAuth client. Every request goes through the guarded
 * client: addresses are checked, redirects are returned, and the response is limited in size and time.
 */
export function createGuardedFetch(ctx: Pick<Ctx, 'config' | 'world'>): typeof fetch {
  const client = createEgressClient(ctx)
  return async (input, init) => {
    const request = await toEgressRequest(new Request(input, init))
    const response = await client.request({ ...request, timeoutMs: CALL_TIMEOUT_MS, maxBytes: MAX_CALL_BYTES })
    return toFetchResponse(response.status, response.headers, response.body)
  }
}

/** The same for libraries that read streams. `signal` ends every request and every stream. */
export function createStreamingFetch(
  ctx: Pick<Ctx, 'config' | 'world'>,
  { signal, maxBytes, ...options }: EgressOptions & { signal: AbortSignal; maxBytes: number },
): typeof fetch {
  const client = createEgressClient(ctx, options)
  return async (input, init) => {
    const request = new Request(input, init)
    const response = await client.stream({
      ...(await toEgressRequest(request)),
      maxBytes,
      signal: AbortSignal.any([signal, request.signal]),
    })
    return toFetchResponse(response.status, response.headers, ReadableStream.from(response.body))
  }
}

async function toEgressRequest(request: Request) {
  const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined
  return {
    url: request.url,
    method: request.method,
    headers: Object.fromEntries(request.headers),
    ...(body && { body }),
  }
}

function toFetchResponse(status: number, from: IncomingHttpHeaders, body: Buffer | ReadableStream): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(from)) for (const one of [value ?? []].flat()) headers.append(name, one)
  const hasBody = status !== 204 && status !== 304
  return new Response(hasBody ? body : null, { status, headers })
}
