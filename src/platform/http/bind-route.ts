import type { ServerResponse } from 'node:http'
import { Problem } from '../base/problem.ts'
import type { ResponseCount } from '../ctx/counts.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { addDuration } from '../ctx/histogram.ts'
import { markEventStream } from './close-server.ts'
import type { HttpRequest } from './http-request.ts'
import { limitBodyTime, readBody } from './request-bytes.ts'
import { countResponse, countStream, responseCountFor } from './response-counts.ts'
import { MAX_BODY_BYTES, type Route, type RouteResponses, StreamResponse } from './route.ts'
import { type Call, type Endpoint, type HttpServer, STREAMED } from './server.ts'
import { validateBody, validateQuery } from './validate.ts'

/** How a plane authenticates the callers of a route. */
export interface Authentication<ScopeT> {
  /** The scope of the caller; throws a 401, 403 or 404. */
  authenticate: (request: HttpRequest) => Promise<ScopeT>
  /** How long a caller with a credential may take to send its body; absent: as long as it wants. */
  bodyTimeoutMs?: number
  /** Ends a stream when the caller's right is revoked. */
  limitStream?: (scope: ScopeT, request: HttpRequest, response: StreamResponse) => StreamResponse
}

/** Binds a route to the server. The caller is authenticated before the body is read, and again if the body came late. */
export function bindRoute<ScopeT>(
  app: HttpServer,
  ctx: Ctx,
  route: Route<ScopeT>,
  { authenticate, bodyTimeoutMs, limitStream }: Authentication<ScopeT>,
): void {
  const count = responseCountFor(ctx.counts, route.path)
  const handle = async ({ request, response, params, query, headers }: Call) => {
    if (route.noStore) headers['cache-control'] = 'no-store'
    const firstScope = await authenticate(request)
    let isBodyLate = false
    // Checked in the next turn: the parser has not yet reported a body that arrived with the headers.
    if (!request.raw.complete)
      setImmediate(() => {
        isBodyLate = !request.raw.complete
        if (isBodyLate) limitLateBody(ctx, route, firstScope, request, bodyTimeoutMs)
      })
    await receiveBody(request, route)
    // The credential may have been revoked while the body was on its way.
    const scope = isBodyLate ? await authenticate(request) : firstScope
    const result = await route.run({
      ctx,
      scope,
      params,
      request,
      reauthenticate: () => authenticate(request),
      validate: () => ({
        query: validateQuery(route.query, query),
        body: route.streamsBody ? undefined : validateBody(route.body, request.body, request.headers['content-type']),
      }),
    })
    if (!(result instanceof StreamResponse)) return result
    // Not awaited, because this function's variables would stay in memory for as long as the stream is open.
    stream(ctx, request.id, countStream(count, response), limitStream?.(scope, request, result) ?? result)
    return STREAMED
  }
  // Without a metrics port there is no reader of the counts.
  const counter = ctx.config.metricsPort === null ? {} : { count: responseCounter(count, route.responses) }
  app.add(route.method === 'GET' && answersHead(route.path) ? ['GET', 'HEAD'] : [route.method], route.path, {
    handle,
    ...counter,
  })
}

const hasBodies = (method: string) => method !== 'GET' && method !== 'HEAD'

/** As the specification of HTTP defines it; parameters after it are not checked. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/

/** Checks the content type and reads the body, unless the route does that itself. */
export async function receiveBody(
  request: HttpRequest,
  { streamsBody, maxBodyBytes = MAX_BODY_BYTES }: Pick<Route<never>, 'streamsBody' | 'maxBodyBytes'>,
): Promise<void> {
  if (!hasBodies(request.method)) return
  if (!MEDIA_TYPE.test(request.headers['content-type'] ?? 'application/json'))
    throw new Problem(415, 'content type must be application/json')
  if (!streamsBody) request.body = await readBody(request.raw, maxBodyBytes)
}

const isEventStream = (response: RouteResponses[number] | undefined) =>
  typeof response === 'object' && 'eventStreamOf' in response

function responseCounter(count: ResponseCount, responses: RouteResponses): NonNullable<Endpoint['count']> {
  // The duration of a stream, or of an agent's wait for a decision, says nothing about the service.
  const isTimed = count.plane !== 'sandbox' && !isEventStream(responses[200])
  return (status, ms) => {
    countResponse(count, status)
    if (isTimed) addDuration(count.times, ms)
  }
}

function stream(ctx: Ctx, requestId: string, out: ServerResponse, response: StreamResponse): void {
  out.writeHead(200, { ...response.headers, 'x-request-id': requestId })
  if (response.earlyEnd === 'end') markEventStream(out)
  response.write(out).catch((error: unknown) => {
    ctx.world.log.error({ err: error, request: requestId }, 'stream failed')
    out.destroy()
  })
}

/** Pages, probes and the model proxy answer HEAD; elsewhere below /v1 it would open streams without a reader. */
const answersHead = (path: string) =>
  path.startsWith('/v1/internal/llm/') || (!path.startsWith('/v1/') && path !== '/mcp')

/** Uploads may take long: they are limited only by the pauses between their bytes (`request-bytes.ts`). */
function limitLateBody(
  { world }: Ctx,
  { streamsBody }: { streamsBody: boolean },
  scope: unknown,
  { raw }: HttpRequest,
  bodyTimeoutMs: number | undefined,
): void {
  if (scope === null) limitBodyTime(world.clock, raw)
  else if (bodyTimeoutMs !== undefined && !streamsBody) limitBodyTime(world.clock, raw, bodyTimeoutMs)
}
