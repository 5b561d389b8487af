import { type FounderRoute, founderPlaneRoutes } from '../../src/planes/founder.ts'
import { metaRoutes, openPlaneRoutes } from '../../src/planes/service-routes.ts'
import { portalRoutes } from '../../src/portal/routes.ts'
import type { OpenApiDocument, OpenApiOperation } from '../../src/http/openapi.ts'
import type { OpenApiSchema } from '../../src/http/openapi-schemas.ts'
import type { Route } from '../../src/http/route.ts'
import type { TestApp } from '../app.ts'

export type AnyRoute = Pick<Route<never>, 'method' | 'path' | 'role' | 'responses'>

/** Every route that is bound, by plane: what is added to a plane is tried by these tests without being named here. */
export const FOUNDER_ROUTES: FounderRoute[] = [
  ...Object.values(founderPlaneRoutes).flat(),
  ...Object.values(metaRoutes(Promise.resolve({ kind: 'process' as const, isolation: {} as never }))),
]
export const CLIENT_ROUTES: AnyRoute[] = Object.values(portalRoutes)
export const OPEN_ROUTES: AnyRoute[] = Object.values(openPlaneRoutes(() => false)).flat()

export const routeName = ({ method, path }: Pick<AnyRoute, 'method' | 'path'>): string => `${method} ${path}`

/** What a path parameter stands for: `tasks` of /v1/portal/tasks/:id/events, `wedge` of /v1/wedges/:wedge. */
export function pathKinds(path: string): string[] {
  return [...path.matchAll(/([a-z-]+)\/:([a-z_]+)/g)].map(([, before = '', name = '']) =>
    name === 'id' ? before : name,
  )
}

/** The path with its parameters filled in, each by its kind; a value is put in as it is. */
export function fillPath(path: string, values: Record<string, string>): string {
  const kinds = pathKinds(path)
  let at = 0
  return path.replaceAll(/:[a-z_]+/g, () => {
    const kind = kinds[at++] ?? ''
    const value = values[kind]
    if (value === undefined) throw new Error(`test/planes/two-tenants.ts has no '${kind}' for ${path}`)
    return value
  })
}

export interface RawResponse {
  status: number
  /** The body as it came, and what else a caller could tell two answers apart by. */
  text: string
  challenge: string | null
  type: string | null
}

export interface RequestOptions {
  authorization?: string | null
  headers?: Record<string, string>
  raw?: string | Uint8Array<ArrayBuffer>
  json?: unknown
}

/** One request, with the answer as bytes. */
export async function sendRequest(
  app: Pick<TestApp, 'url'>,
  method: string,
  path: string,
  sent: RequestOptions = {},
): Promise<RawResponse> {
  const body = sent.raw ?? (sent.json === undefined ? undefined : JSON.stringify(sent.json))
  const response = await fetch(app.url + path, {
    method,
    headers: {
      ...(sent.authorization && { authorization: sent.authorization }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...sent.headers,
    },
    ...(body !== undefined && { body }),
  })
  const { status, headers } = response
  return {
    status,
    text: await responseText(response),
    challenge: headers.get('www-authenticate'),
    type: headers.get('content-type'),
  }
}

/** A stream may never end: what it says at first is enough. */
async function responseText(response: Response): Promise<string> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body.getReader()
  const leave = setTimeout(() => void reader.cancel(), 150)
  let text = ''
  for (let read = await reader.read(); !read.done; read = await reader.read())
    text += Buffer.from(read.value).toString()
  clearTimeout(leave)
  return text
}

/** All at once: a matrix of requests is waiting more than working. */
export async function inParallel<T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  await Promise.all(list.map(work))
}

export const bearer = (token: string): string => `Bearer ${token}`

export async function readOpenApi(app: Pick<TestApp, 'url'>): Promise<OpenApiDocument> {
  return JSON.parse((await sendRequest(app, 'GET', '/openapi.json')).text)
}

export function findOperation(document: OpenApiDocument, { method, path }: AnyRoute): OpenApiOperation {
  const found = document.paths[path.replaceAll(/:([a-z_]+)/g, '{$1}')]?.[method.toLowerCase()]
  if (!found) throw new Error(`openapi.json does not know ${method} ${path}`)
  return found
}

/** The names of what may be asked for behind the question mark. */
export const queryNames = ({ parameters = [] }: OpenApiOperation): string[] =>
  parameters.flatMap((one) => ('name' in one && one.in === 'query' ? [one.name] : []))

/** The known fields of a route's body. */
export function bodyFields(document: OpenApiDocument, operation: OpenApiOperation): Record<string, OpenApiSchema> {
  const schema = resolveSchema(document, operation.requestBody?.content['application/json']?.schema ?? {})
  const properties = (schema.properties as Record<string, OpenApiSchema> | undefined) ?? {}
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, resolveSchema(document, inner)]))
}

function resolveSchema(document: OpenApiDocument, schema: OpenApiSchema): OpenApiSchema {
  const name = typeof schema.$ref === 'string' ? (schema.$ref.split('/').at(-1) ?? '') : null
  return name === null ? schema : (document.components.schemas[name] ?? {})
}

/** The contract's one shape of an error: a sentence in lower case, and nothing that only the service should know. */
export function errorProblem(text: string): string | null {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  if (typeof error !== 'string' || error === '') return 'has no error'
  if (/^[A-Z]/.test(error)) return 'begins with a capital'
  if (/\bat .+:\d+:\d+|sqlite|postgres|select \*|node_modules|undefined|\[object/i.test(error))
    return 'tells of internals'
  return null
}
