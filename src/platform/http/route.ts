import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { z } from 'zod'
import { notFound, Problem } from '../base/problem.ts'
import { type Ctx, readLists } from '../ctx/ctx.ts'
import type { ClientScope, ProjectScope, Role, Scope } from '../ctx/scope.ts'
import { StoreUnavailable } from '../store/errors.ts'
import type { Db } from '../store/store.ts'
import type { HttpRequest } from './http-request.ts'

/**
 * A route is data: its inputs, its responses and its handler. The planes bind it, OpenAPI describes it and the tests try
 * every credential on it, all from this one value.
 *
 * The order of a call is fixed: authentication (401, 403, 404 for the project), then `find` (404 for the subject), then
 * validation of query and body (400). So a 400 never reveals that something exists.
 */
export interface Route<ScopeT, Request = HttpRequest> {
  /** The operation id in OpenAPI: the key under which `nameRoutes` got the route. */
  operation?: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** What a call does, in a few words. */
  summary: string
  /** What a caller needs to know beyond the summary. */
  description?: string
  /** The lowest role that may call it on the founder plane. */
  role: Role
  headers: RouteHeaders
  query: z.ZodType | null
  body: z.ZodType | null
  /** The handler reads the body from `request.raw` itself, and nothing limits its size before. */
  streamsBody: boolean
  /** The limit for the body, if it is not the usual one. */
  maxBodyBytes?: number
  /** No cache may keep a response, errors included. */
  noStore?: true
  /** The response schema by status, for the reference. */
  responses: RouteResponses
  run: (input: RunInput<ScopeT, Request>) => Promise<unknown>
}

/** A founder route that reads from every project in scope, or writes to the organisation itself. */
export interface OrganisationRoute extends Route<Scope> {
  level: 'organisation'
}

/** A founder route that belongs to exactly one project. */
export interface ProjectRoute extends Route<ProjectScope> {
  level: 'project'
}

/** The limit for a body that the service validates. */
export const MAX_BODY_BYTES = 1024 * 1024

/** Headers that only some routes have. */
export interface RouteHeaders {
  read?: Record<string, { description: string; minLength?: number; maxLength?: number; pattern?: string }>
  sent?: Record<string, string>
}

/** A schema of JSON, the schema of each event of a stream, or a content type whose body has no schema. */
export type RouteResponses = Record<number, z.ZodType | { eventStreamOf: z.ZodType } | string>

/** The argument of a handler. `subject` is the result of `find`. */
interface HandlerInput<ScopeT, Query, Body, Subject, Request> {
  ctx: Ctx
  scope: ScopeT
  params: PathParams
  query: Query
  body: Body
  subject: Subject
  request: Request
  /** Throws a 401, 403 or 404 if the credential was revoked since. A route with `streamsBody` calls it after the body. */
  reauthenticate: () => Promise<unknown>
}

/** Path parameters by name; a route that names a parameter always has it. */
export type PathParams = Record<string, string>

/** The argument of `find`. */
export type FindInput<ScopeT> = Pick<RunInput<ScopeT>, 'ctx' | 'scope' | 'params'>

/** The part of a request that exists over HTTP and over a pipe. */
export type RequestHead = Pick<HttpRequest, 'headers'>

interface RunInput<ScopeT, Request = HttpRequest> {
  ctx: Ctx
  scope: ScopeT
  params: PathParams
  request: Request
  /** Over HTTP only: checks the credential again, as it was before the body was read. */
  reauthenticate?: () => Promise<ScopeT>
  /** Validates query and body against the schemas of the route; called after `find`. */
  validate: () => { query: unknown; body: unknown }
}

export interface RouteSpec<ScopeT, Query extends z.ZodType, Body extends z.ZodType, Subject, Request = HttpRequest> {
  summary: string
  description?: string
  role?: Role
  headers?: RouteHeaders
  query?: Query
  body?: Body
  /** The handler reads the body from `request.raw`; see `platform/http/request-bytes.ts`. */
  streamsBody?: true
  maxBodyBytes?: number
  noStore?: true
  /** The handler lists, searches or exports: the `db` of its context is that of `store.lists`. */
  longRead?: true
  responses: RouteResponses
  find?: (input: FindInput<ScopeT> & { request: Request }) => Promise<Subject>
  handle: (input: HandlerInput<ScopeT, z.output<Query>, z.output<Body>, Subject, Request>) => Promise<unknown>
}

export function defineRoute<ScopeT, Query extends z.ZodType, Body extends z.ZodType, Subject, Request = HttpRequest>(
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
    headers: spec.headers ?? {},
    query: spec.query ?? null,
    body: spec.body ?? null,
    streamsBody: spec.streamsBody ?? false,
    ...(spec.maxBodyBytes !== undefined && { maxBodyBytes: spec.maxBodyBytes }),
    ...(spec.noStore && { noStore: true }),
    responses: spec.responses,
    async run({ ctx, scope, params, request, validate, reauthenticate = async () => scope }) {
      const subject = (await spec.find?.({ ctx, scope, params, request })) as Subject
      const { query, body } = validate() as { query: z.output<Query>; body: z.output<Body> }
      return spec.handle({
        ctx: spec.longRead ? readLists(ctx) : ctx,
        scope,
        params,
        query,
        body,
        subject,
        request,
        reauthenticate,
      })
    },
  }
}

/** Gives each route its key as operation id, so that the code and OpenAPI use one name. */
export function nameRoutes<Routes extends Record<string, Pick<Route<never>, 'operation'>>>(routes: Routes): Routes {
  for (const [operation, route] of Object.entries(routes)) route.operation = operation
  return routes
}

/** Finds the row with the `id` of the path in the caller's projects; a row of another project is a 404. */
export const findInScope =
  <Subject>(noun: string, find: (db: Db, projectIds: readonly string[], id: string) => Promise<Subject | undefined>) =>
  async ({ ctx, scope, params }: FindInput<Scope>): Promise<Subject> => {
    const subject = await find(ctx.db, scope.projectIds, params.id ?? '')
    if (!subject) throw notFound(noun)
    return subject
  }

/** Strangers and clients send texts of at most 10,000 characters, which take less as JSON. */
const MAX_OUTSIDE_BODY_BYTES = 64 * 1024

/** A route that needs no credential. */
export function openRoute<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  spec: RouteSpec<null, Query, Body, Subject>,
) {
  return defineRoute(method, path, { maxBodyBytes: MAX_OUTSIDE_BODY_BYTES, ...spec })
}

/** A route of the client plane: the scope is one client. */
export function portalRoute<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'GET' | 'POST',
  path: string,
  spec: RouteSpec<ClientScope, Query, Body, Subject>,
) {
  return defineRoute(method, path, { maxBodyBytes: MAX_OUTSIDE_BODY_BYTES, ...spec })
}

/** A route of the founder plane that reads from every project in scope. */
export function defineRead<Query extends z.ZodType, Subject>(
  path: string,
  spec: RouteSpec<Scope, Query, z.ZodNever, Subject>,
): OrganisationRoute {
  return { ...defineRoute('GET', path, spec), level: 'organisation' }
}

/** A route of the founder plane that reads what one project has, such as its brand. */
export function defineProjectRead<Query extends z.ZodType, Subject>(
  path: string,
  spec: RouteSpec<ProjectScope, Query, z.ZodNever, Subject>,
): ProjectRoute {
  return { ...defineRoute('GET', path, spec), level: 'project' }
}

/** A route of the founder plane that writes to exactly one project. */
export function defineWrite<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  spec: RouteSpec<ProjectScope, Query, Body, Subject>,
): ProjectRoute {
  return { ...defineRoute(method, path, spec), level: 'project' }
}

/** A route of the founder plane that writes to the organisation itself, in no project. */
export function writeOrganisation<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  spec: RouteSpec<Scope, Query, Body, Subject>,
): OrganisationRoute {
  return { ...defineRoute(method, path, spec), level: 'organisation' }
}

/** A response other than status 200 with a JSON body. */
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
/** A body of bytes; the headers name its content type. */
export const bytesResponse = (content: Buffer, headers: Record<string, string>) =>
  new HttpResponse(200, content, headers)

/** A response that writes its body itself for as long as the caller stays connected. */
export class StreamResponse<Out extends Writable = ServerResponse> {
  readonly write: (out: Out) => Promise<void>
  readonly headers: Record<string, string>
  /** How the server ends it early. A file is destroyed, so that an incomplete one does not look complete. */
  readonly earlyEnd: 'end' | 'destroy'
  constructor(
    headers: Record<string, string>,
    write: (out: Out) => Promise<void>,
    earlyEnd: 'end' | 'destroy' = 'end',
  ) {
    this.headers = headers
    this.write = write
    this.earlyEnd = earlyEnd
  }
}

/** Fires when the caller of a stream has disconnected. */
export function disconnectSignal(out: Writable): AbortSignal {
  const disconnected = new AbortController()
  out.once('close', () => disconnected.abort(DISCONNECTED))
  if (out.destroyed) disconnected.abort(DISCONNECTED)
  return disconnected.signal
}

/** A string as the reason, because an abort without one creates an error with a stack. */
const DISCONNECTED = 'the caller has disconnected'

/** The error that the caller gets: a known one or an unavailable store. Null for an internal error. */
export function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (error instanceof StoreUnavailable) return new Problem(503, error.message, { headers: { 'retry-after': '1' } })
  return null
}
