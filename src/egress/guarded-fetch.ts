import type { Ctx } from '../ctx/ctx.ts'
import { CALL_TIMEOUT_MS, createEgressClient, type EgressOptions, MAX_CALL_BYTES } from './http-client.ts'

/**
 * A `fetch` for libraries that make their own requests, such as an OAuth client. Every request goes through the guarded
 * client: addresses are checked, redirects are returned, and the response is limited in size and time.
 */
export function createGuardedFetch(ctx: Pick<Ctx, 'config' | 'world'>, options: EgressOptions = {}): typeof fetch {
  const client = createEgressClient(ctx, options)
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined
    const response = await client.request({
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(body && { body }),
      timeoutMs: CALL_TIMEOUT_MS,
      maxBytes: MAX_CALL_BYTES,
    })
    const headers = new Headers()
    for (const [name, value] of Object.entries(response.headers))
      for (const one of [value ?? []].flat()) headers.append(name, one)
    const hasBody = response.status !== 204 && response.status !== 304
    return new Response(hasBody ? response.body : null, { status: response.status, headers })
  }
}
