import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { badRequest, Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { HttpRequest, toBlockList } from './http-request.ts'
import { respondToMalformedRequest } from './malformed-request.ts'
import { limitBodyTime } from './request-bytes.ts'
import { HttpResponse, type PathParams, toProblem } from './route.ts'
import { refuseNul, RouteTable } from './route-table.ts'

/** A request whose method and path have an endpoint, and its response. */
export interface Call {
  request: HttpRequest
  response: ServerResponse
  params: PathParams
  query: string
  /** The headers of every response to the request, errors included. */
  headers: Record<string, string>
}

/** Handles the requests of a method and path. */
export interface Endpoint {
  /** The result is sent; `STREAMED` if the response has been begun already. */
  handle: (call: Call) => Promise<unknown>
  /** Called after the response. */
  count?: (status: number, ms: number) => void
}

export const STREAMED = Symbol('streamed')

/** The server of all planes: limits, request ids, bodies kept raw until they are validated, and errors in one shape. */
export class HttpServer {
  readonly server: Server
  /** Called for each request that has an endpoint, before the endpoint. */
  readonly beforeCalls: ((call: Call) => void)[] = []
  readonly #ctx: Ctx
  readonly #endpoints = new RouteTable<Endpoint>()
  readonly #trustedProxies

  constructor(ctx: Ctx) {
    this.#ctx = ctx
    this.#trustedProxies = toBlockList(ctx.config.trustedProxies)
    this.server = createNodeServer(this.onRequest)
  }

  add(methods: string[], path: string, endpoint: Endpoint): void {
    for (const method of methods) this.#endpoints.add(method, path, endpoint)
  }

  /** Returns the address of the server. */
  async listen(where: { host: string; port: number }): Promise<string> {
    await once(this.server.listen(where), 'listening')
    const bound = this.server.address()
    if (bound === null || typeof bound === 'string') throw new Error('the server listens on no port')
    const { address, family, port } = bound
    const host = family === 'IPv6' ? `[${address}]` : address.replace(/^0\.0\.0\.0$/, '127.0.0.1')
    return `http://${host}:${port}`
  }

  /** Accepts no more connections, and waits until all are closed. */
  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()))
  }

  /** Also called for the requests on the sockets of cells. */
  readonly onRequest: RequestListener = (raw, response) => {
    const id = Buffer.from(this.#ctx.world.random(9)).toString('base64url')
    const request = new HttpRequest(id, raw, this.#trustedProxies)
    const call = { request, response, params: {}, query: '', headers: { 'x-request-id': id } }
    this.#respond(call).catch((error: unknown) => {
      this.#ctx.world.log.error({ err: error, request: id }, 'response failed')
      response.destroy()
    })
  }

  async #respond(call: Call): Promise<void> {
    const { request } = call
    let path: string | undefined
    try {
      const match = this.#endpoints.find(request.method, request.url)
      path = match?.path
      this.#watchEnd(call, path, match?.value.count)
      refuseAmbiguousHeaders(request)
      refuseNul(request.url)
      // Before the body is read, as the credential is checked.
      if (!match) throw new Problem(404, `no such route: ${request.method} ${request.path}`)
      call.params = match.params
      call.query = match.query
      for (const step of this.beforeCalls) step(call)
      const result = await match.value.handle(call)
      if (result !== STREAMED) send(call, result)
    } catch (error) {
      sendError(this.#ctx, call, error, path)
    }
  }

  /** Without metrics and debug logging there is no listener, so that a long stream does not keep its request in memory. */
  #watchEnd({ request, response }: Call, route: string | undefined, count: Endpoint['count']): void {
    const { log } = this.#ctx.world
    const isLogged = log.isLevelEnabled('debug')
    if (!isLogged && !count) return
    const { id, method } = request
    const start = performance.now()
    response.once('finish', () => {
      const ms = performance.now() - start
      const status = response.statusCode
      count?.(status, ms)
      // Ids without payloads, query strings or tokens.
      if (isLogged) log.debug({ request: id, method, route, status, ms: Math.round(ms) }, 'request completed')
    })
  }
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
      // Node would refuse a missing host without a body, so the check is in `refuseAmbiguousHeaders`.
      requireHostHeader: false,
    },
    onRequest,
  )
  // Node would refuse an unknown `Expect` header without a body; the service ignores the header.
  server.on('checkExpectation', onRequest)
  server.on('clientError', respondToMalformedRequest)
  keepAllHeaders(server)
  return server
}

const MAX_HEADERS = 100

/** By default Node drops all headers after the first 1,000 without an error; checks for absent or repeated headers need all of them. */
export function keepAllHeaders(server: Pick<Server, 'maxHeadersCount'>): void {
  server.maxHeadersCount = 0
}

/** Refuses a request that two parsers could understand in two ways, such as one with two credentials or two hosts. */
function refuseAmbiguousHeaders({ raw: { rawHeaders } }: HttpRequest): void {
  const count = rawHeaders.length / 2
  if (count > MAX_HEADERS) throw new Problem(431, `request has ${count} headers, at most ${MAX_HEADERS} are allowed`)
  let authorization = 0
  let host = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 13 && name.toLowerCase() === 'authorization') authorization++
    if (name?.length === 4 && name.toLowerCase() === 'host') host++
  }
  if (authorization > 1) throw badRequest("header 'authorization' must not be repeated")
  if (host !== 1) throw badRequest(`header 'host' ${host === 0 ? 'is required' : 'must not be repeated'}`)
}

const OK = { status: 200, headers: {} }
const INTERNAL_ERROR = new Problem(500, 'internal error')

function send({ response, headers }: Call, result: unknown): void {
  const { status, headers: more, body } = result instanceof HttpResponse ? result : { ...OK, body: result }
  const isEmpty = result instanceof HttpResponse && body === null
  const isJson = !isEmpty && !Buffer.isBuffer(body)
  const content = Buffer.isBuffer(body) ? body : isEmpty ? '' : JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    ...more,
    ...(isJson && { 'content-type': 'application/json; charset=utf-8' }),
    ...(status !== 204 && status !== 304 && { 'content-length': Buffer.byteLength(content) }),
  })
  response.end(content)
}

function sendError({ world }: Ctx, call: Call, error: unknown, route: string | undefined): void {
  const { request, response } = call
  if (!request.raw.complete) limitBodyTime(world.clock, request.raw)
  const problem = toProblem(error)
  if (!problem) world.log.error({ err: error, request: request.id, route }, 'request failed')
  if (response.headersSent) return void response.destroy()
  const { status, message, extra, headers } = problem ?? INTERNAL_ERROR
  send(call, new HttpResponse(status, { error: message, ...extra }, headers))
}
