import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { notFound } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { ClientScope, ProjectScope, Role, Scope } from '../ctx/scope.ts'
import type { Db } from '../store/store.ts'

/**
 * A route is data: what it takes, what it answers and what it does. The planes bind it, OpenAPI describes it and the
 * tests try every credential on it, all from this one value.
 *
 * The order of a call is fixed: scope (401, 403, 404 of the project), then `find` (404 of the subject), and only then
 * are query and body judged (400), so nobody learns by a 400 that something exists.
 */
export interface Route<ScopeT, Request = FastifyRequest> {
  /** The operation id in OpenAPI: the key under which `nameRoutes` got the route. */
  operation?: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** What a call does, in a few words. */
  summary: string
  /** What a caller needs to know beyond the summary. */
  description?: string
  /** The least role on the founder plane. */
  role: Role
  /** A write happens in one project, unless it is about the organisation itself. */
  level: 'project' | 'organisation'
  headers: RouteHeaders
  query: z.ZodType | null
  body: z.ZodType | null
  /** The response schema by status, for the reference. */
  responses: RouteResponses
  run(ask: RunInput<ScopeT, Request>): Promise<unknown>
}

/** What a route has to do with headers beside those that all have, each with what it is for, for the reference. */
export interface RouteHeaders {
  read?: Record<string, string>
  sent?: Record<string, string>
}

/** Of one parameter of a path, as it stands in the path. */
export const MAX_PARAM_LENGTH = 512

/** A schema of JSON, the schema of each event of a stream, or a content type whose body has no schema. */
export type RouteResponses = Record<number, z.ZodType | { eventStreamOf: z.ZodType } | string>

/** What a handler gets. `subject` is what `find` found. */
interface HandlerInput<ScopeT, Query, Body, Subject, Request> {
  ctx: Ctx
  scope: ScopeT
  params: PathParams
  query: Query
  body: Body
  subject: Subject
  request: Request
}

/** Path parameters by name; a route that names a parameter always has it. */
export type PathParams = Record<string, string>

/** What `find` gets. */
export type FindInput<ScopeT> = Pick<RunInput<ScopeT>, 'ctx' | 'scope' | 'params'>

/** All that a route learns of a request that may have come by a pipe. */
export type RequestHead = Pick<FastifyRequest, 'headers'>

interface RunInput<ScopeT, Request = FastifyRequest> {
  ctx: Ctx
  scope: ScopeT
  params: PathParams
  request: Request
  /** Judges query and body by the route's schemas; called after the subject was found. */
  validate(): { query: unknown; body: unknown }
}

export interface RouteSpec<ScopeT, Query extends z.ZodType, Body extends z.ZodType, Subject, Request = FastifyRequest> {
  summary: string
  description?: string
  role?: Role
  level?: 'project' | 'organisation'
  headers?: RouteHeaders
  query?: Query
  body?: Body
  responses: RouteResponses
  find?: (ask: FindInput<ScopeT>) => Promise<Subject>
  handle: (ask: HandlerInput<ScopeT, z.output<Query>, z.output<Body>, Subject, Request>) => Promise<unknown>
}

export function defineRoute<ScopeT, Query extends z.ZodType, Body extends z.ZodType, Subject, Request = FastifyRequest>(
  method: Route<ScopeT>['method'],
  path: string,
  spec: RouteSpec<ScopeT, Query, Body, Subject, Request>,
): Route<ScopeT, Request> {
  return {
    method,
    path,
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    role: spec.role ?? (method === 'GET' ? 'viewer' : 'operator'),
    level: spec.level ?? 'project',
    headers: spec.headers ?? {},
    query: spec.query ?? null,
    body: spec.body ?? null,
    responses: spec.responses,
    async run(ask) {
      const { ctx, scope, params, request } = ask
      const subject = (await spec.find?.({ ctx, scope, params })) as Subject
      const { query, body } = ask.validate() as { query: z.output<Query>; body: z.output<Body> }
      return spec.handle({ ctx, scope, params, query, body, subject, request })
    },
  }
}

/** Gives each route its key as operation id, so that the code and OpenAPI use one name. */
export function nameRoutes<Routes extends Record<string, Pick<Route<never>, 'operation'>>>(routes: Routes): Routes {
  for (const [operation, route] of Object.entries(routes)) route.operation = operation
  return routes
}

/** Finds what the `id` of a path names in the caller's projects. Somebody else's is not there, as if it had never been. */
export const findInScope =
  <Subject>(noun: string, find: (db: Db, projectIds: readonly string[], id: string) => Promise<Subject | undefined>) =>
  async ({ ctx, scope, params }: FindInput<Scope>): Promise<Subject> => {
    const subject = await find(ctx.db, scope.projectIds, params.id ?? '')
    if (!subject) throw notFound(noun)
    return subject
  }

/** Needs no credential. */
export function openRoute<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'GET' | 'POST',
  path: string,
  spec: RouteSpec<null, Query, Body, Subject>,
) {
  return defineRoute(method, path, spec)
}

/** Client plane: the scope is one client. */
export function portalRoute<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'GET' | 'POST',
  path: string,
  spec: RouteSpec<ClientScope, Query, Body, Subject>,
) {
  return defineRoute(method, path, spec)
}

/** Founder plane: reads reach every project in scope. */
export function defineRead<Query extends z.ZodType, Subject>(
  path: string,
  spec: RouteSpec<Scope, Query, z.ZodNever, Subject>,
) {
  return defineRoute('GET', path, spec)
}

/** Founder plane: a write happens in exactly one project. */
export function defineWrite<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  spec: RouteSpec<ProjectScope, Query, Body, Subject>,
) {
  return defineRoute(method, path, spec)
}

/** Founder plane: a write about the organisation itself, in no project. */
export function writeOrganisation<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  spec: RouteSpec<Scope, Query, Body, Subject>,
) {
  return defineRoute(method, path, { ...spec, level: 'organisation' })
}

/** An answer that is more than 200 and a JSON body. */
export class HttpResponse {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>
  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

export const createdResponse = (location: string, body: unknown, headers: Record<string, string> = {}) =>
  new HttpResponse(201, body, Object.assign({ location }, headers))
export const noContentResponse = () => new HttpResponse(204, null)
/** Bytes with their own content type. */
export const bytesResponse = (content: Buffer, headers: Record<string, string>) =>
  new HttpResponse(200, content, headers)

/** An answer that writes to the socket, or to whatever `Out` is, itself for as long as the caller stays. */
export class StreamResponse<Out extends Writable = ServerResponse> {
  readonly write: (out: Out) => Promise<void>
  readonly headers: Record<string, string>
  /** How it ends before its time: a file that is not whole must not look like one. */
  readonly earlyEnd: 'end' | 'destroy'
  constructor(headers: Record<string, string>, write: (out: Out) => Promise<void>, cut: 'end' | 'destroy' = 'end') {
    this.headers = headers
    this.write = write
    this.earlyEnd = cut
  }
}

/** Fires when the caller of a stream is gone. */
export function disconnectSignal(out: Writable): AbortSignal {
  const gone = new AbortController()
  out.once('close', () => gone.abort(DISCONNECTED))
  if (out.destroyed) gone.abort(DISCONNECTED)
  return gone.signal
}

/** A word as the reason: an abort without one makes an error with a stack, for nobody. */
const DISCONNECTED = 'the caller is gone'
