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

/** Who waits for the answer to a question. */
export interface PipeCaller {
  /** False: what was told waits in memory, and whoever has more to tell shall wait for room. */
  send(word: PipeResponsePart): boolean
  whenDrained(call: () => void): void
}

/** Never throws: every question gets its answer. */
export type PipePlane<ScopeT> = (scope: ScopeT, question: Omit<PipeRequest, 'ask'>, asker: PipeCaller) => Promise<void>

/**
 * The routes of a plane for those who ask by lines on a pipe: found, judged and answered as over HTTP. `opens` tells
 * whether the token that came with a question opens the route for the scope.
 */
export function createPipePlane<ScopeT>(
  ctx: Ctx,
  routes: Route<ScopeT, RequestHead>[],
  opens: (route: Route<ScopeT, RequestHead>, scope: ScopeT, token: string) => boolean,
): PipePlane<ScopeT> {
  const places = routes.map((route) => toRouteMatcher(ctx, route))
  const run = (
    place: RouteMatcher<ScopeT>,
    scope: ScopeT,
    { token, headers = {}, body = {} }: PlaneRequest,
    url: string[],
  ) => {
    const { route } = place
    if (!opens(route, scope, token)) throw unauthorized()
    const [path = '', query] = url
    const judge = () => ({
      query: validateQuery(route.query, query ? Object.fromEntries(new URLSearchParams(query)) : {}),
      body: validateParsedBody(route.body, requireStrictJson(body)),
    })
    return route.run({ ctx, scope, params: pathParams(place, path), request: { headers }, validate: judge })
  }
  const answer = async (scope: ScopeT, question: PlaneRequest, asker: PipeCaller): Promise<CompleteResponse | null> => {
    const { method } = question
    const url = question.path.split('?')
    const place = findRoute(places, method, url[0] ?? '')
    const told = place
      ? await runRoute(ctx, place, asker, async () => run(place, scope, question, url))
      : problemResponse(new Problem(404, `no such route: ${method} ${url[0]}`))
    const status = told?.status ?? 200
    if (place) countResponse(place.count, status)
    ctx.world.log.debug({ method, route: place?.route.path, status }, 'request completed')
    return told
  }
  return async (scope, question, asker) => {
    // Null for a stream, which has told its own end; and it is no yes.
    const before = question.first && (await answer(scope, question.first, asker))
    const passed = !question.first || before?.status === 200
    const told = passed ? await answer(scope, question, asker) : before && { ...before, first: true as const }
    if (told) asker.send(told)
  }
}

/** What is to be told, or null when a stream has told it. */
async function runRoute(
  ctx: Ctx,
  { route, count }: RouteMatcher<never>,
  asker: PipeCaller,
  run: () => Promise<unknown>,
): Promise<CompleteResponse | null> {
  try {
    const result = await run()
    return result instanceof StreamResponse ? await sendStream(ctx, count, result, asker) : toCompleteResponse(result)
  } catch (error) {
    return errorResponse(ctx, route, error)
  }
}

interface RouteMatcher<ScopeT> {
  route: Route<ScopeT, RequestHead>
  pattern: RegExp
  /** Of its parameters, in their order; `*` is the rest of the path. */
  names: string[]
  count: ResponseCount
}

function toRouteMatcher<ScopeT>(ctx: Ctx, route: Route<ScopeT, RequestHead>): RouteMatcher<ScopeT> {
  const names = [...route.path.matchAll(/:(\w+)|\*/g)].map(([, name]) => name ?? '*')
  const pattern = new RegExp(`^${route.path.replaceAll(/:\w+/g, '([^/]+)').replace('*', '(.*)')}$`)
  return { route, pattern, names, count: responseCountFor(ctx.counts, route.path) }
}

function findRoute<ScopeT>(
  places: RouteMatcher<ScopeT>[],
  method: string,
  path: string,
): RouteMatcher<ScopeT> | undefined {
  return places.find(({ route, pattern }) => route.method === method && pattern.test(path))
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
  // One of the stores could not even compare it.
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
  const streams = headers['content-type']?.startsWith('text/event-stream')
  return streams ? { piece: text, status, body: null } : { status, body: JSON.parse(text) }
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
  answer: StreamResponse<Writable>,
  asker: PipeCaller,
): Promise<null> {
  const out = countStream(count, new PipeStream(asker))
  await answer.write(out).catch((error: unknown) => {
    ctx.world.log.error({ err: error }, 'stream failed')
    out.destroy()
  })
  return null
}

/** A stream as lines. What is destroyed before its end is told to be cut off, as a connection would be. */
class PipeStream extends Writable {
  readonly #asker: PipeCaller
  readonly #decoder = new StringDecoder('utf8')

  constructor(asker: PipeCaller) {
    super()
    this.#asker = asker
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.#asker.send({ piece: this.#decoder.write(chunk) })) done()
    else this.#asker.whenDrained(done)
  }

  override _final(done: () => void): void {
    this.#asker.send({ status: 200, body: null })
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#asker.send({ cut: true })
    done(error)
  }
}
