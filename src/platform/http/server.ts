import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
  type onResponseHookHandler,
} from 'fastify'
import { badRequest, Problem } from '../base/problem.ts'
import type { ResponseCount } from '../ctx/counts.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { addDuration } from '../ctx/histogram.ts'
import { markEventStream } from './close-server.ts'
import { respondToMalformedRequest } from './malformed-request.ts'
import { countResponse, responseCountFor, countStream } from './response-counts.ts'
import { validateBody, validateQuery } from './validate.ts'
import { toProblem } from './to-problem.ts'
import { HttpResponse, type RouteResponses, MAX_PARAM_LENGTH, type Route, StreamResponse } from './route.ts'

export const MAX_BODY_BYTES = 1024 * 1024

/** The server of all planes: limits, request ids, bodies kept raw until they are validated, and errors in one shape. */
export function createHttpServer(ctx: Ctx): FastifyInstance {
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    // Any client can send X-Forwarded-For, so it counts only from the operator's own proxies.
    trustProxy: ctx.config.trustedProxies.length > 0 && ctx.config.trustedProxies,
    // `close-server.ts` waits for the responses in progress.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // With a factory, Fastify opens one server also for the host `localhost`, so no second server lacks these settings.
    serverFactory: createNodeServer,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
    // The routes validate and serialise themselves. Without these, Fastify loads two compilers, a fifth of the start.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    logger: false,
    genReqId: () => Buffer.from(ctx.world.random(9)).toString('base64url'),
    clientErrorHandler: respondToMalformedRequest,
    // Errors before any hook runs, such as a path that cannot be decoded.
    frameworkErrors: (error, request, reply) =>
      sendError(ctx, error, request, reply.header('x-request-id', request.id)),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done(tooManyHeaders(request) ?? ambiguousRequest(request) ?? unknownRoute(request))
  })
  // Without debug logging there is no hook, so that a long stream does not keep its request in memory.
  if (ctx.world.log.isLevelEnabled('debug')) {
    app.addHook('onResponse', (request, reply, done) => {
      logResponse(ctx, request, reply)
      done()
    })
  }
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(ctx, error, request, reply))
  return app
}

function refuseSchema(): never {
  throw new Error('routes have no schema for Fastify: validate.ts checks them')
}

function createNodeServer(onRequest: RequestListener): Server {
  const server = createServer(
    {
      requestTimeout: 0,
      // Longer than pooled clients keep idle connections: closing first would cause resets.
      keepAliveTimeout: 75_000,
      headersTimeout: 10_000,
      // By default Node checks only every 30 s, which would turn the 10 s into 40 s.
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 16 * 1024,
      // Node would refuse a missing host without a body, so the check is in `ambiguousRequest`.
      requireHostHeader: false,
    },
    onRequest,
  )
  // Node would refuse an unknown `Expect` header without a body; the service ignores the header.
  server.on('checkExpectation', onRequest)
  keepAllHeaders(server)
  return server
}

/** How a plane authenticates the callers of a route. */
export interface Authentication<ScopeT> {
  /** The scope of the caller; throws a 401, 403 or 404. */
  authenticate: (request: FastifyRequest) => Promise<ScopeT>
  /** How long a caller with a credential may take to send its body; absent: as long as it wants. */
  bodyTimeoutMs?: number
  /** Ends a stream when the caller's right is revoked. */
  limitStream?: (scope: ScopeT, request: FastifyRequest, response: StreamResponse) => StreamResponse
}

/** Binds a route to the server. The caller is authenticated before the body is read, and again if the body came late. */
export function bindRoute<ScopeT>(
  app: FastifyInstance,
  ctx: Ctx,
  route: Route<ScopeT>,
  { authenticate, bodyTimeoutMs, limitStream }: Authentication<ScopeT>,
): void {
  const count = responseCountFor(ctx.counts, route.path)
  const calls = new WeakMap<FastifyRequest, AuthenticatedCall<ScopeT>>()
  addRoute(app, route, {
    method: route.method,
    url: route.path,
    bodyLimit: route.maxBodyBytes ?? MAX_BODY_BYTES,
    exposeHeadRoute: route.method === 'GET' && answersHead(route.path),
    onRequest: async (request, reply) => {
      if (route.noStore) reply.header('cache-control', 'no-store')
      const call = { scope: await authenticate(request), isBodyLate: false }
      calls.set(request, call)
      // Checked in the next turn: the parser has not yet reported a body that arrived with the headers.
      if (request.raw.complete) return
      setImmediate(() => {
        call.isBodyLate = !request.raw.complete
        if (call.isBodyLate) limitLateBody(ctx, route, call.scope, request, bodyTimeoutMs)
      })
    },
    handler: async (request, reply) => {
      const call = calls.get(request)
      // The credential may have been revoked while the body was on its way.
      const scope = call && !call.isBodyLate ? call.scope : await authenticate(request)
      const result = await route.run({
        ctx,
        scope,
        params: request.params as Record<string, string>,
        request,
        reauthenticate: () => authenticate(request),
        validate: () => ({
          query: validateQuery(route.query, request.query),
          body: route.streamsBody
            ? undefined
            : validateBody(route.body, request.body as Buffer | undefined, request.headers['content-type']),
        }),
      })
      if (!(result instanceof StreamResponse)) return send(reply, result)
      // Not awaited, because this function's variables would stay in memory for as long as the stream is open.
      const limited = limitStream?.(scope, request, result) ?? result
      stream(ctx, request.id, countStream(count, reply.hijack().raw), limited)
      return reply
    },
    // Without a metrics port there is no reader of the counts.
    ...(ctx.config.metricsPort !== null && { onResponse: countingHook(count, route.responses) }),
  })
}

/** A route that reads its body itself is in a context of its own, in which no parser reads the body first. */
function addRoute(app: FastifyInstance, { streamsBody }: { streamsBody: boolean }, options: RouteOptions): void {
  if (!streamsBody) return void app.route(options)
  app.register(async (child) => {
    child.removeAllContentTypeParsers()
    child.addContentTypeParser('*', (_request, _payload, done) => done(null))
    child.route(options)
  })
}

interface AuthenticatedCall<ScopeT> {
  scope: ScopeT
  /** The body had not arrived completely when the caller was authenticated. */
  isBodyLate: boolean
}

const isEventStream = (response: RouteResponses[number] | undefined) =>
  typeof response === 'object' && 'eventStreamOf' in response

function countingHook(count: ResponseCount, responses: RouteResponses): onResponseHookHandler {
  // The duration of a stream, or of an agent's wait for a decision, says nothing about the service.
  const isTimed = count.plane !== 'sandbox' && !isEventStream(responses[200])
  return (_request, reply, done) => {
    countResponse(count, reply.statusCode)
    if (isTimed) addDuration(count.times, reply.elapsedTime)
    done()
  }
}

function send(reply: FastifyReply, result: unknown): unknown {
  if (!(result instanceof HttpResponse)) return sendJson(reply, result)
  reply.code(result.status).headers(result.headers)
  if (result.body === null) return reply.send()
  return Buffer.isBuffer(result.body) ? reply.send(result.body) : sendJson(reply, result.body)
}

/** Serialised here, because Fastify would first look for a response schema. */
function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body))
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

const MAX_HEADERS = 100

/** By default Node drops all headers after the first 1,000 without an error; checks for absent or repeated headers need all of them. */
export function keepAllHeaders(server: Pick<Server, 'maxHeadersCount'>): void {
  server.maxHeadersCount = 0
}

function tooManyHeaders({ raw: { rawHeaders } }: FastifyRequest): Problem | undefined {
  const count = rawHeaders.length / 2
  return count > MAX_HEADERS
    ? new Problem(431, `request has ${count} headers, at most ${MAX_HEADERS} are allowed`)
    : undefined
}

/** A request that two parsers could understand in two ways, such as one with two credentials or two hosts. */
function ambiguousRequest({ url, raw: { rawHeaders } }: FastifyRequest): Problem | undefined {
  let authorization = 0
  let host = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 13 && name.toLowerCase() === 'authorization') authorization++
    if (name?.length === 4 && name.toLowerCase() === 'host') host++
  }
  if (authorization > 1) return badRequest("header 'authorization' must not be repeated")
  if (host !== 1) return badRequest(`header 'host' ${host === 0 ? 'is required' : 'must not be repeated'}`)
  // PostgreSQL cannot compare a text that contains NUL.
  return url.includes('%00') ? badRequest('url must not contain nul characters') : undefined
}

/** Checked before the body is read, as the credential is. */
function unknownRoute(request: FastifyRequest): Problem | undefined {
  return request.is404 ? new Problem(404, `no such route: ${request.method} ${request.url.split('?')[0]}`) : undefined
}

const UNAUTHENTICATED_BODY_TIMEOUT_MS = 10_000

/** Uploads may take long: they are limited only by the pauses between their bytes (`request-bytes.ts`). */
function limitLateBody(
  ctx: Ctx,
  { streamsBody }: { streamsBody: boolean },
  scope: unknown,
  request: FastifyRequest,
  bodyTimeoutMs: number | undefined,
): void {
  if (scope === null) limitBodyTime(ctx, request)
  else if (bodyTimeoutMs !== undefined && !streamsBody) limitBodyTime(ctx, request, bodyTimeoutMs)
}

/** Slow senders could otherwise hold many connections open, above all those without a valid credential. */
function limitBodyTime({ world }: Ctx, { raw }: FastifyRequest, ms = UNAUTHENTICATED_BODY_TIMEOUT_MS): void {
  const refuse = () => {
    if (!raw.complete) respondToMalformedRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, raw.socket)
  }
  raw.once('close', world.clock.after(ms, refuse))
}

function sendError(ctx: Ctx, error: FastifyError | Problem, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error, request.routeOptions.bodyLimit)
  if (!request.raw.complete) limitBodyTime(ctx, request)
  if (!problem) {
    ctx.world.log.error({ err: error, request: request.id, route: request.routeOptions.url }, 'request failed')
    reply.code(500).send({ error: 'internal error' })
    return
  }
  reply
    .code(problem.status)
    .headers(problem.headers)
    .send({ error: problem.message, ...problem.extra })
}

/** One line per response, with ids and without payloads, query strings or tokens. */
function logResponse(ctx: Ctx, request: FastifyRequest, reply: FastifyReply): void {
  ctx.world.log.debug(
    {
      request: request.id,
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    },
    'request completed',
  )
}
