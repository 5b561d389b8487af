import type { ServerResponse } from 'node:http'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onResponseHookHandler,
} from 'fastify'
import { badRequest, type Problem } from '../base/problem.ts'
import type { ResponseCount } from '../ctx/counts.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { respondToMalformedRequest } from './malformed-request.ts'
import { countResponse, responseCountFor, countResponseTime, countStream } from './response-counts.ts'
import { validateBody, validateQuery } from './validate.ts'
import { toProblem } from './to-problem.ts'
import { HttpResponse, type RouteResponses, MAX_PARAM_LENGTH, type Route, StreamResponse } from './route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, as the plane knows it. */
    scope: unknown
    /** The body was still on its way after that was found out. */
    isLate: boolean
  }
}

export const MAX_BODY_BYTES = 1024 * 1024

/** The edge that all planes share: limits, request ids, bodies kept raw until they are judged, errors as one shape. */
export function createHttpServer(ctx: Ctx): FastifyInstance {
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    // Anybody can send X-Forwarded-For; only a proxy of the operator's is believed.
    trustProxy: ctx.config.trustedProxies.length > 0 && ctx.config.trustedProxies,
    requestTimeout: 0,
    // Pooled clients keep connections for long; closing them first gives resets.
    keepAliveTimeout: 75_000,
    connectionTimeout: 0,
    forceCloseConnections: true,
    // Node would refuse a missing host without a body; we say it in our own shape.
    http: {
      headersTimeout: 10_000,
      // Node looks every 30 s only; ten seconds would be forty.
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: 16 * 1024,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
    logger: false,
    genReqId: () => Buffer.from(ctx.world.random(9)).toString('base64url'),
    clientErrorHandler: respondToMalformedRequest,
    // What fails before any hook runs, such as a path that cannot be decoded.
    frameworkErrors: (error, request, reply) =>
      sendError(ctx, error, request, reply.header('x-request-id', request.id)),
  })
  // Node would refuse it without a word; what else somebody expects changes nothing in what we answer.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.decorateRequest('scope', null)
  app.decorateRequest('isLate', false)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done(ambiguousRequest(request))
  })
  // Where nobody would read the line, a stream need not keep what it tells of. The level stays what it is at the start.
  if (ctx.world.log.isLevelEnabled('debug')) {
    app.addHook('onResponse', (request, reply, done) => {
      logResponse(ctx, request, reply)
      done()
    })
  }
  app.setNotFoundHandler((request, reply) => {
    reply.code(404).send({ error: `no such route: ${request.method} ${request.url.split('?')[0]}` })
  })
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(ctx, error, request, reply))
  return app
}

/** Ends a stream with the right of whoever opened it. */
type Hold<ScopeT> = (scope: ScopeT, request: FastifyRequest, answer: StreamResponse) => StreamResponse

/**
 * Binds a route to the server; `scopeOf` is the plane's way to know who asks, and `hold` to know for how long they may.
 * That a write's scope names its project is the plane's promise; the types of a whole list of routes cannot carry it.
 */
export function bindRoute<ScopeT>(
  app: FastifyInstance,
  ctx: Ctx,
  route: Route<ScopeT>,
  scopeOf: (request: FastifyRequest) => Promise<unknown>,
  hold: Hold<ScopeT> = (_scope, _request, answer) => answer,
): void {
  const count = responseCountFor(ctx.counts, route.path)
  app.route({
    method: route.method,
    url: route.path,
    // Pages and probes answer HEAD; below /v1 it would open streams nobody reads.
    exposeHeadRoute: route.method === 'GET' && !route.path.startsWith('/v1/') && route.path !== '/mcp',
    // Before the body is read: a stranger's megabyte is not ours to carry.
    onRequest: async (request) => {
      request.scope = await scopeOf(request)
      // Not at once: of a body that came with its head the parser has not told yet.
      if (!request.raw.complete) setImmediate(() => (request.isLate = !request.raw.complete))
    },
    handler: async (request, reply) => {
      // Whoever keeps the body back may have been revoked meanwhile.
      if (request.isLate) request.scope = await scopeOf(request)
      const result = await route.run({
        ctx,
        scope: request.scope as ScopeT,
        params: request.params as Record<string, string>,
        request,
        validate: () => ({
          query: validateQuery(route.query, request.query),
          body: validateBody(route.body, request.body as Buffer | undefined, request.headers['content-type']),
        }),
      })
      if (!(result instanceof StreamResponse)) return send(reply, result)
      // Nobody waits for it: all that led here would stay in memory for as long as the stream does.
      const held = hold(request.scope as ScopeT, request, result)
      stream(ctx, request.id, countStream(count, reply.hijack().raw), held)
      return reply
    },
    // Where nobody can read the counts, nobody pays for them.
    ...(ctx.config.metricsPort !== null && { onResponse: countingHook(count, route.responses) }),
  })
}

function countingHook(count: ResponseCount, answers: RouteResponses): onResponseHookHandler {
  // How long a stream was followed, or an agent's question waited for a person, says nothing about us.
  const timed = count.plane !== 'sandbox' && !(typeof answers[200] === 'object' && 'eventStreamOf' in answers[200])
  return (_request, reply, done) => {
    countResponse(count, reply.statusCode)
    if (timed) countResponseTime(count, reply.elapsedTime)
    done()
  }
}

function send(reply: FastifyReply, result: unknown): unknown {
  if (!(result instanceof HttpResponse)) return sendJson(reply, result)
  reply.code(result.status).headers(result.headers)
  if (result.body === null) return reply.send()
  return Buffer.isBuffer(result.body) ? reply.send(result.body) : sendJson(reply, result.body)
}

/** Serialised here: Fastify would look for a response schema first. */
function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body))
}

function stream(ctx: Ctx, requestId: string, out: ServerResponse, answer: StreamResponse): void {
  out.writeHead(200, { ...answer.headers, 'x-request-id': requestId })
  answer.write(out).catch((error: unknown) => {
    ctx.world.log.error({ err: error, request: requestId }, 'stream failed')
    out.destroy()
  })
}

/** What two readers of the request could read in two ways, such as who asks whom. */
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
  // One of the stores could not even compare it.
  return url.includes('%00') ? badRequest('url must not contain nul characters') : undefined
}

function sendError(ctx: Ctx, error: FastifyError | Problem, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error)
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

/** One line an answer, with ids and without payloads, query strings or tokens. */
function logResponse(ctx: Ctx, request: FastifyRequest, reply: FastifyReply): void {
  ctx.world.log.debug(
    {
      request: request.id,
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    },
    'answered',
  )
}
