import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Json } from '../base/json.ts'
import { badRequest, Problem, unauthorized } from '../base/problem.ts'
import type { PipeRequest, PlaneRequest, PipeResponsePart, CompleteResponse } from '../contract/agent-protocol.ts'
import { requireStrictJson } from '../base/strict-json.ts'
import type { ResponseCount } from '../ctx/counts.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { countResponse, responseCountFor, countStream } from './response-counts.ts'
import { validateQuery, validateParsedBody } from './validate.ts'
import { toProblem } from './to-problem.ts'
import {
  HttpResponse,
  type RequestHead,
  MAX_PARAM_LENGTH,
  type PathParams,
  type Route,
  StreamResponse,
} from './route.ts'

/** The sender of a request on a pipe. */
export interface PipeCaller {
  /** False if the pipe is full: the part waits in memory, and the next one should wait for `whenDrained`. */
  send(part: PipeResponsePart): boolean
  whenDrained(call: () => void): void
}

/** Never throws: every request gets a response. */
export type PipePlane<ScopeT> = (scope: ScopeT, request: Omit<PipeRequest, 'ask'>, caller: PipeCaller) => Promise<void>

/** The routes of a plane over a pipe, with the same matching, validation and responses as over HTTP. */
export function createPipePlane<ScopeT>(
  ctx: Ctx,
  routes: Route<ScopeT, RequestHead>[],
  isAuthorized: (route: Route<ScopeT, RequestHead>, scope: ScopeT, token: string) => boolean,
): PipePlane<ScopeT> {
  const matchers = routes.map((route) => toRouteMatcher(ctx, route))
  const callRoute = (
    matcher: RouteMatcher<ScopeT>,
    scope: ScopeT,
    { token, headers = {}, body = {} }: PlaneRequest,
    [path = '', query]: string[],
  ) => {
    const { route } = matcher
    if (!isAuthorized(route, scope, token)) throw unauthorized()
    const validate = () => ({
      query: validateQuery(route.query, query ? Object.fromEntries(new URLSearchParams(query)) : {}),
      body: validateParsedBody(route.body, requireStrictJson(body)),
    })
    return route.run({ ctx, scope, params: pathParams(matcher, path), request: { headers }, validate })
  }
  const respond = async (scope: ScopeT, request: PlaneRequest, caller: PipeCaller) => {
    const { method } = request
    const url = request.path.split('?')
    const matcher = findRoute(matchers, method, url[0] ?? '')
    const response = matcher
      ? await runRoute(ctx, matcher, caller, async () => callRoute(matcher, scope, request, url))
      : problemResponse(new Problem(404, `no such route: ${method} ${url[0]}`))
    const status = response?.status ?? 200
    if (matcher) countResponse(matcher.count, status)
    ctx.world.log.debug({ method, route: matcher?.route.path, status }, 'request completed')
    return response
  }
  return async (scope, request, caller) => {
    // A stream gives null, which does not count as the 200 that the `first` request must get.
    const first = request.first && (await respond(scope, request.first, caller))
    const passed = !request.first || first?.status === 200
    const response = passed ? await respond(scope, request, caller) : first && { ...first, first: true as const }
    if (response) caller.send(response)
  }
}

/** The response to send; null if it was a stream, which has already been sent. */
async function runRoute(
  ctx: Ctx,
  { route, count }: RouteMatcher<never>,
  caller: PipeCaller,
  call: () => Promise<unknown>,
): Promise<CompleteResponse | null> {
  try {
    const result = await call()
    return result instanceof StreamResponse ? await sendStream(ctx, count, result, caller) : toCompleteResponse(result)
  } catch (error) {
    return errorResponse(ctx, route, error)
  }
}

interface RouteMatcher<ScopeT> {
  route: Route<ScopeT, RequestHead>
  pattern: RegExp
  /** The names of the path parameters in their order; `*` is the rest of the path. */
  names: string[]
  count: ResponseCount
}

function toRouteMatcher<ScopeT>(ctx: Ctx, route: Route<ScopeT, RequestHead>): RouteMatcher<ScopeT> {
  const names = [...route.path.matchAll(/:(\w+)|\*/g)].map(([, name]) => name ?? '*')
  const pattern = new RegExp(`^${route.path.replaceAll(/:\w+/g, '([^/]+)').replace('*', '(.*)')}$`)
  return { route, pattern, names, count: responseCountFor(ctx.counts, route.path) }
}

function findRoute<ScopeT>(
  matchers: RouteMatcher<ScopeT>[],
  method: string,
  path: string,
): RouteMatcher<ScopeT> | undefined {
  return matchers.find(({ route, pattern }) => route.method === method && pattern.test(path))
}

function pathParams({ pattern, names }: Pick<RouteMatcher<unknown>, 'pattern' | 'names'>, path: string): PathParams {
  const values = pattern.exec(path)
  const params: PathParams = {}
  names.forEach((name, i) => {
    params[name] = decodeParam(values?.[i + 1] ?? '')
  })
  return params
}

function decodeParam(value: string): string {
  if (value.length > MAX_PARAM_LENGTH) throw new Problem(414, 'path is too long')
  // PostgreSQL cannot compare a text that contains NUL.
  if (value.includes('%00')) throw badRequest('url must not contain nul characters')
  try {
    return decodeURIComponent(value)
  } catch {
    throw badRequest('path is not valid')
  }
}

function toCompleteResponse(result: unknown): CompleteResponse {
  if (!(result instanceof HttpResponse)) return { status: 200, body: result as Json }
  const { status, body, headers } = result
  if (!Buffer.isBuffer(body)) return { status, body: body as Json }
  const text = body.toString()
  const isEventStream = headers['content-type']?.startsWith('text/event-stream')
  return isEventStream ? { piece: text, status, body: null } : { status, body: JSON.parse(text) }
}

function errorResponse(ctx: Ctx, { path }: { path: string }, error: unknown): CompleteResponse {
  const problem = toProblem(error)
  if (problem) return problemResponse(problem)
  ctx.world.log.error({ err: error, route: path }, 'request failed')
  return { status: 500, body: { error: 'internal error' } }
}

export const problemResponse = ({ status, message, extra }: Problem): CompleteResponse => ({
  status,
  body: { error: message, ...(extra as Record<string, Json>) },
})

async function sendStream(
  ctx: Ctx,
  count: ResponseCount,
  response: StreamResponse<Writable>,
  caller: PipeCaller,
): Promise<null> {
  const out = countStream(count, new PipeStream(caller))
  await response.write(out).catch((error: unknown) => {
    ctx.world.log.error({ err: error }, 'stream failed')
    out.destroy()
  })
  return null
}

/** A stream as lines on the pipe. A stream that is destroyed before its end sends `cut`, like a closed connection. */
class PipeStream extends Writable {
  readonly #caller: PipeCaller
  readonly #decoder = new StringDecoder('utf8')

  constructor(caller: PipeCaller) {
    super()
    this.#caller = caller
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.#caller.send({ piece: this.#decoder.write(chunk) })) done()
    else this.#caller.whenDrained(done)
  }

  override _final(done: () => void): void {
    this.#caller.send({ status: 200, body: null })
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#caller.send({ cut: true })
    done(error)
  }
}
