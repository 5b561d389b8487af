import { encodePathPart } from './path-part.ts'

/** The parameters may be left out if none of them is required. */
export type CallArguments<Params, Options> = object extends Params
  ? [params?: Params, options?: Options]
  : [params: Params, options?: Options]

type NamedParams = { [name: string]: string | number | boolean | undefined }

/** The request of an operation, such as `GET /v1/tasks/{id}`. Parameters that the path does not name become the query. */
export function toRequest(route: string, params: object): { method: string; path: string; body: unknown } {
  const [method = '', template = ''] = route.split(' ')
  const { body, ...named } = params as { body?: unknown } & NamedParams
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(named)) {
    if (value !== undefined && !template.includes(`{${name}}`)) query.set(name, String(value))
  }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodePathPart(name, named[name]))
  return { method, path: query.size > 0 ? `${path}?${query.toString()}` : path, body }
}
