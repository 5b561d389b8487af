import { clientPlane, openClientRoutes } from '../../src/planes/client.ts'
import { founderPlane } from '../../src/planes/founder.ts'
import { metaRoutes } from '../../src/planes/meta.ts'
import { openPlane } from '../../src/planes/open.ts'
import type { OpenApiDocument, Operation, Schema } from '../../src/http/openapi.ts'
import type { Route } from '../../src/http/route.ts'
import type { TestApp } from '../app.ts'

export type AnyRoute = Pick<Route<never>, 'method' | 'path' | 'role' | 'level' | 'answers'>

/** Every route that is bound, by plane: what is added to a plane is tried by these tests without being named here. */
export const FOUNDER: AnyRoute[] = [
  ...Object.values(founderPlane).flat(),
  ...Object.values(metaRoutes(Promise.resolve({ kind: 'process' as const, isolation: {} as never }))),
]
export const CLIENT: AnyRoute[] = clientPlane
export const OPEN: AnyRoute[] = [...Object.values(openPlane(() => false)).flat(), ...openClientRoutes]

export const nameOf = ({ method, path }: Pick<AnyRoute, 'method' | 'path'>): string => `${method} ${path}`

/** What a path parameter stands for: `tasks` of /v1/portal/tasks/:id/events, `wedge` of /v1/wedges/:wedge. */
export function kindsOf(path: string): string[] {
  return [...path.matchAll(/([a-z-]+)\/:([a-z_]+)/g)].map(([, before = '', name = '']) =>
    name === 'id' ? before : name,
  )
}

/** The path with its parameters filled in, each by its kind; a value is put in as it is. */
export function pathWith(path: string, values: Record<string, string>): string {
  const kinds = kindsOf(path)
  let at = 0
  return path.replaceAll(/:[a-z_]+/g, () => {
    const kind = kinds[at++] ?? ''
    const value = values[kind]
    if (value === undefined) throw new Error(`test/planes/estate.ts has no '${kind}' for ${path}`)
    return value
  })
}

export interface Raw {
  status: number
  /** The body as it came, and what else a caller could tell two answers apart by. */
  text: string
  challenge: string | null
  type: string | null
}

export interface Sent {
  authorization?: string | null
  headers?: Record<string, string>
  raw?: string | Uint8Array<ArrayBuffer>
  json?: unknown
}

/** One request, with the answer as bytes. */
export async function ask(app: Pick<TestApp, 'url'>, method: string, path: string, sent: Sent = {}): Promise<Raw> {
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
    text: await textOf(response),
    challenge: headers.get('www-authenticate'),
    type: headers.get('content-type'),
  }
}

/** A stream may never end: what it says at first is enough. */
async function textOf(response: Response): Promise<string> {
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
export async function together<T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  await Promise.all(list.map(work))
}

export const bearer = (token: string): string => `Bearer ${token}`

export async function reference(app: Pick<TestApp, 'url'>): Promise<OpenApiDocument> {
  return JSON.parse((await ask(app, 'GET', '/openapi.json')).text)
}

export function operationOf(document: OpenApiDocument, { method, path }: AnyRoute): Operation {
  const found = document.paths[path.replaceAll(/:([a-z_]+)/g, '{$1}')]?.[method.toLowerCase()]
  if (!found) throw new Error(`openapi.json does not know ${method} ${path}`)
  return found
}

/** The names of what may be asked for behind the question mark. */
export const queriesOf = ({ parameters = [] }: Operation): string[] =>
  parameters.flatMap((one) => ('name' in one && one.in === 'query' ? [one.name] : []))

/** The known fields of a route's body. */
export function fieldsOf(document: OpenApiDocument, operation: Operation): Record<string, Schema> {
  const schema = named(document, operation.requestBody?.content['application/json']?.schema ?? {})
  const properties = (schema.properties as Record<string, Schema> | undefined) ?? {}
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, named(document, inner)]))
}

function named(document: OpenApiDocument, schema: Schema): Schema {
  const name = typeof schema.$ref === 'string' ? (schema.$ref.split('/').at(-1) ?? '') : null
  return name === null ? schema : (document.components.schemas[name] ?? {})
}

/** The contract's one shape of an error: a sentence in lower case, and nothing that only the service should know. */
export function wrongError(text: string): string | null {
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
