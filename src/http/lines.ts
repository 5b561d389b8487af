import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Json } from '../base/json.ts'
import { badRequest, Problem, unauthorized } from '../base/problem.ts'
import type { PlaneAsk, Question, Told, Whole } from '../base/protocol.ts'
import { requireStrictJson } from '../base/strict-json.ts'
import type { AnswerCount } from '../ctx/counts.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { countAnswer, countFor, whileStreaming } from './count-answers.ts'
import { judgeQuery, judgeValue } from './judge.ts'
import { problemOf } from './problem-of.ts'
import { Answer, type Heading, LONGEST_PARAM, type Params, type Route, StreamAnswer } from './route.ts'

/** Who waits for the answer to a question. */
export interface Asker {
  /** False: what was told waits in memory, and whoever has more to tell shall wait for room. */
  tell(word: Told): boolean
  whenRoom(call: () => void): void
}

/** Never throws: every question gets its answer. */
export type LineDoor<ScopeT> = (scope: ScopeT, question: Omit<PlaneAsk, 'ask'>, asker: Asker) => Promise<void>

/**
 * The routes of a plane for those who ask by lines on a pipe: found, judged and answered as over HTTP. `opens` tells
 * whether the token that came with a question opens the route for the scope.
 */
export function lineDoor<ScopeT>(
  ctx: Ctx,
  routes: Route<ScopeT, Heading>[],
  opens: (route: Route<ScopeT, Heading>, scope: ScopeT, token: string) => boolean,
): LineDoor<ScopeT> {
  const places = routes.map((route) => placeOf(ctx, route))
  const run = (place: Place<ScopeT>, scope: ScopeT, { token, headers = {}, body = {} }: Question, url: string[]) => {
    const { route } = place
    if (!opens(route, scope, token)) throw unauthorized()
    const [path = '', query] = url
    const judge = () => ({
      query: judgeQuery(route.query, query ? Object.fromEntries(new URLSearchParams(query)) : {}),
      body: judgeValue(route.body, requireStrictJson(body)),
    })
    return route.run({ ctx, scope, params: paramsOf(place, path), request: { headers }, judge })
  }
  const answer = async (scope: ScopeT, question: Question, asker: Asker): Promise<Whole | null> => {
    const { method } = question
    const url = question.path.split('?')
    const place = placeAt(places, method, url[0] ?? '')
    const told = place
      ? await answered(ctx, place, asker, async () => run(place, scope, question, url))
      : refusal(new Problem(404, `no such route: ${method} ${url[0]}`))
    const status = told?.status ?? 200
    if (place) countAnswer(place.count, status)
    ctx.world.log.debug({ method, route: place?.route.path, status }, 'answered')
    return told
  }
  return async (scope, question, asker) => {
    // Null for a stream, which has told its own end; and it is no yes.
    const before = question.first && (await answer(scope, question.first, asker))
    const passed = !question.first || before?.status === 200
    const told = passed ? await answer(scope, question, asker) : before && { ...before, first: true as const }
    if (told) asker.tell(told)
  }
}

/** What is to be told, or null when a stream has told it. */
async function answered(
  ctx: Ctx,
  { route, count }: Place<never>,
  asker: Asker,
  run: () => Promise<unknown>,
): Promise<Whole | null> {
  try {
    const result = await run()
    return result instanceof StreamAnswer ? await streamed(ctx, count, result, asker) : whole(result)
  } catch (error) {
    return failure(ctx, route, error)
  }
}

interface Place<ScopeT> {
  route: Route<ScopeT, Heading>
  pattern: RegExp
  /** Of its parameters, in their order; `*` is the rest of the path. */
  names: string[]
  count: AnswerCount
}

function placeOf<ScopeT>(ctx: Ctx, route: Route<ScopeT, Heading>): Place<ScopeT> {
  const names = [...route.path.matchAll(/:(\w+)|\*/g)].map(([, name]) => name ?? '*')
  const pattern = new RegExp(`^${route.path.replaceAll(/:\w+/g, '([^/]+)').replace('*', '(.*)')}$`)
  return { route, pattern, names, count: countFor(ctx.counts, route.path) }
}

function placeAt<ScopeT>(places: Place<ScopeT>[], method: string, path: string): Place<ScopeT> | undefined {
  return places.find(({ route, pattern }) => route.method === method && pattern.test(path))
}

function paramsOf({ pattern, names }: Pick<Place<unknown>, 'pattern' | 'names'>, path: string): Params {
  const values = pattern.exec(path)
  const params: Params = {}
  names.forEach((name, i) => {
    params[name] = decoded(values?.[i + 1] ?? '')
  })
  return params
}

function decoded(value: string): string {
  if (value.length > LONGEST_PARAM) throw new Problem(414, 'path is too long')
  // One of the stores could not even compare it.
  if (value.includes('%00')) throw badRequest('url must not contain nul characters')
  try {
    return decodeURIComponent(value)
  } catch {
    throw badRequest('path is not valid')
  }
}

function whole(result: unknown): Whole {
  if (!(result instanceof Answer)) return { status: 200, body: result as Json }
  const { status, body, headers } = result
  if (!Buffer.isBuffer(body)) return { status, body: body as Json }
  const text = body.toString()
  const streams = headers['content-type']?.startsWith('text/event-stream')
  return streams ? { piece: text, status, body: null } : { status, body: JSON.parse(text) }
}

function failure(ctx: Ctx, { path }: { path: string }, error: unknown): Whole {
  const problem = problemOf(error)
  if (problem) return refusal(problem)
  ctx.world.log.error({ err: error, route: path }, 'request failed')
  return { status: 500, body: { error: 'internal error' } }
}

export const refusal = ({ status, message, extra }: Problem): Whole => ({
  status,
  body: { error: message, ...(extra as Record<string, Json>) },
})

async function streamed(ctx: Ctx, count: AnswerCount, answer: StreamAnswer<Writable>, asker: Asker): Promise<null> {
  const out = whileStreaming(count, new Pieces(asker))
  await answer.write(out).catch((error: unknown) => {
    ctx.world.log.error({ err: error }, 'stream failed')
    out.destroy()
  })
  return null
}

/** A stream as lines. What is destroyed before its end is told to be cut off, as a connection would be. */
class Pieces extends Writable {
  readonly #asker: Asker
  readonly #decoder = new StringDecoder('utf8')

  constructor(asker: Asker) {
    super()
    this.#asker = asker
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.#asker.tell({ piece: this.#decoder.write(chunk) })) done()
    else this.#asker.whenRoom(done)
  }

  override _final(done: () => void): void {
    this.#asker.tell({ status: 200, body: null })
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#asker.tell({ cut: true })
    done(error)
  }
}
