import { type FounderRoute, founderPlaneRoutes } from '../../../src/server/planes/founder.ts'
import { metaRoutes, openPlaneRoutes } from '../../../src/server/planes/service-routes.ts'
import { portalRoutes } from '../../../src/conversations/portal/routes.ts'
import type { OpenApiDocument, OpenApiOperation } from '../../../src/platform/http/openapi.ts'
import type { OpenApiSchema } from '../../../src/platform/http/openapi-schemas.ts'
import type { Route } from '../../../src/platform/http/route.ts'
import type { TestApp } from '../../app.ts'

export type AnyRoute = Pick<Route<never>, 'method' | 'path' | 'role' | 'responses' | 'streamsBody'>

/** Every route by plane, so that tests include new routes without naming them. */
export const FOUNDER_ROUTES: FounderRoute[] = [
  ...Object.values(founderPlaneRoutes).flat(),
  ...Object.values(
    metaRoutes(Promise.resolve({ kind: 'process' as const, isolation: {} as never, limiting: {} as never })),
  ),
]
export const CLIENT_ROUTES: AnyRoute[] = Object.values(portalRoutes)
export const OPEN_ROUTES: AnyRoute[] = Object.values(openPlaneRoutes(() => 'running')).flat()

export const routeName = ({ method, path }: Pick<AnyRoute, 'method' | 'path'>): string => `${method} ${path}`

/** The kind of each path parameter: `tasks` in /v1/portal/tasks/:id/events, `wedge` in /v1/wedges/:wedge. */
export function pathKinds(path: string): string[] {
  return [...path.matchAll(/([a-z-]+)\/:([a-z_]+)/g)].map(([, before = '', name = '']) =>
    name === 'id' ? before : name,
  )
}

/** Replaces each path parameter by the value of its kind, without encoding it. */
export function fillPath(path: string, values: Record<string, string>): string {
  const kinds = pathKinds(path)
  let at = 0
  return path.replaceAll(/:[a-z_]+/g, () => {
    const kind = kinds[at++] ?? ''
    const value = values[kind]
    if (value === undefined) throw new Error(`test/server/planes/two-tenants.ts has no '${kind}' for ${path}`)
    return value
  })
}

export interface RawResponse {
  status: number
  /** The body unchanged; with the two headers, everything by which a caller could distinguish two responses. */
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

/** Sends one request and returns the unparsed response. */
export async function sendRequest(
  app: Pick<TestApp, 'url'>,
  method: string,
  path: string,
  sent: RequestOptions = {},
): Promise<RawResponse> {
  const body = sent.raw ?? (sent.json === undefined ? undefined : JSON.stringify(sent.json))
  const response = await fetch(app.url + path, {
    method,
    redirect: 'manual',
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

/** A stream may never end, so only its first 150 ms are read. */
async function responseText(response: Response): Promise<string> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body.getReader()
  const timeout = setTimeout(() => void reader.cancel(), 150)
  let text = ''
  for (let read = await reader.read(); !read.done; read = await reader.read())
    text += Buffer.from(read.value).toString()
  clearTimeout(timeout)
  return text
}

export async function inParallel<T>(list: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  await Promise.all(list.map(work))
}

export const bearer = (token: string): string => `Bearer ${token}`

export async function readOpenApi(app: Pick<TestApp, 'url'>): Promise<OpenApiDocument> {
  return JSON.parse((await sendRequest(app, 'GET', '/openapi.json')).text)
}

export function findOperation(document: OpenApiDocument, { method, path }: AnyRoute): OpenApiOperation {
  const found = document.paths[path.replaceAll(/:([a-z_]+)/g, '{$1}')]?.[method.toLowerCase()]
  if (!found) throw new Error(`openapi.json has no ${method} ${path}`)
  return found
}

export const queryNames = ({ parameters = [] }: OpenApiOperation): string[] =>
  parameters.flatMap((parameter) => ('name' in parameter && parameter.in === 'query' ? [parameter.name] : []))

/** The schemas of the fields of a body. */
export function bodyFields(document: OpenApiDocument, operation: OpenApiOperation): Record<string, OpenApiSchema> {
  const schema = resolveSchema(document, operation.requestBody?.content['application/json']?.schema ?? {})
  const properties = (schema.properties as Record<string, OpenApiSchema> | undefined) ?? {}
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, resolveSchema(document, inner)]))
}

function resolveSchema(document: OpenApiDocument, schema: OpenApiSchema): OpenApiSchema {
  const name = typeof schema.$ref === 'string' ? (schema.$ref.split('/').at(-1) ?? '') : null
  return name === null ? schema : (document.components.schemas[name] ?? {})
}

/** What is wrong with an error body, which must be a lower-case sentence without internals of the service. */
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
    return 'reveals internals'
  return null
}
