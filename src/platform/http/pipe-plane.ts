import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Json } from '../base/json.ts'
import { Problem, unauthorized } from '../base/problem.ts'
import type { PipeRequest, PlaneRequest, PipeResponsePart, CompleteResponse } from '../contract/agent-protocol.ts'
import { requireStrictJson } from '../base/strict-json.ts'
import type { ResponseCount } from '../ctx/counts.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { countResponse, responseCountFor, countStream } from './response-counts.ts'
import { validateQuery, validateParsedBody } from './validate.ts'
import { HttpResponse, type RequestHead, type Route, StreamResponse, toProblem } from './route.ts'
import { refuseNul, RouteTable } from './route-table.ts'

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
  const table = new RouteTable<{ route: Route<ScopeT, RequestHead>; count: ResponseCount }>()
  for (const route of routes)
    table.add(route.method, route.path, { route, count: responseCountFor(ctx.counts, route.path) })
  const respond = async (scope: ScopeT, request: PlaneRequest, caller: PipeCaller) => {
    const { token, method, path, headers = {}, body = {} } = request
    let match: ReturnType<typeof table.find>
    const callRoute = async () => {
      match = table.find(method, path)
      if (!match) throw new Problem(404, `no such route: ${method} ${path.split('?')[0]}`)
      refuseNul(path)
      const { value, params, query } = match
      const { route, count } = value
      if (!isAuthorized(route, scope, token)) throw unauthorized()
      const validate = () => ({
        query: validateQuery(route.query, query),
        body: validateParsedBody(route.body, requireStrictJson(body)),
      })
      const result = await route.run({ ctx, scope, params, request: { headers }, validate })
      return result instanceof StreamResponse ? sendStream(ctx, count, result, caller) : toCompleteResponse(result)
    }
    const response = await callRoute().catch((error: unknown) => errorResponse(ctx, match?.path, error))
    const status = response?.status ?? 200
    if (match) countResponse(match.value.count, status)
    ctx.world.log.debug({ method, route: match?.path, status }, 'request completed')
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

function toCompleteResponse(result: unknown): CompleteResponse {
  if (!(result instanceof HttpResponse)) return { status: 200, body: result as Json }
  const { status, body, headers } = result
  if (!Buffer.isBuffer(body)) return { status, body: body as Json }
  const text = body.toString()
  const isEventStream = headers['content-type']?.startsWith('text/event-stream')
  return isEventStream ? { piece: text, status, body: null } : { status, body: JSON.parse(text) }
}

function errorResponse(ctx: Ctx, route: string | undefined, error: unknown): CompleteResponse {
  const problem = toProblem(error)
  if (problem) return problemResponse(problem)
  ctx.world.log.error({ err: error, route }, 'request failed')
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
