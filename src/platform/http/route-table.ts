import { badRequest, Problem } from '../base/problem.ts'
import type { PathParams } from './route.ts'

/** The limit for one path parameter, in decoded characters. */
const MAX_PARAM_LENGTH = 512

/** What a method and a URL select. */
export interface RouteMatch<Value> {
  value: Value
  /** The path of the route, with the names of its parameters. */
  path: string
  params: PathParams
  /** As it is in the URL, without the question mark. */
  query: string
}

/**
 * Finds routes by method and path, over HTTP and over pipes. The path of a route has segments such as `tasks` and `:id`,
 * and `*` at its end is the rest of the path. A name comes before a parameter and a parameter before the rest, whatever
 * the order in which the routes were added. Upper case and slashes count; a parameter can be empty.
 */
export class RouteTable<Value> {
  readonly #roots = new Map<string, PathNode<Value>>()

  add(method: string, path: string, value: Value): void {
    let node = this.#roots.get(method) ?? new PathNode<Value>()
    this.#roots.set(method, node)
    const params = new Map<string, number>()
    for (const [i, segment] of segmentsOf(path).entries()) {
      if (segment === '*') node = node.rest ??= new PathNode()
      else if (segment.startsWith(':')) node = node.param ??= new PathNode()
      else node = node.child(segment)
      if (/^[:*]/.test(segment)) params.set(segment.replace(':', ''), i)
    }
    if (node.route) throw new Error(`two routes are ${method} ${path}`)
    node.route = { value, path, params }
  }

  /** Undefined if there is no such route; a 400 or 414 if the path is not valid. */
  find(method: string, url: string): RouteMatch<Value> | undefined {
    const target = toPathAndQuery(url)
    const end = target.search(/[?#]/)
    const segments = decodePath(end < 0 ? target : target.slice(0, end))
    const search = { segments, isParamTooLong: false }
    const route = this.#roots.get(method)?.find(search, 0)
    if (!route && search.isParamTooLong) throw new Problem(414, 'path is too long')
    if (!route) return undefined
    const params: PathParams = Object.create(null)
    for (const [name, i] of route.params)
      params[name] = (name === '*' ? segments.slice(i).join('/') : segments[i]) ?? ''
    return { value: route.value, path: route.path, params, query: end < 0 ? '' : target.slice(end + 1) }
  }
}

class PathNode<Value> {
  readonly children = new Map<string, PathNode<Value>>()
  param: PathNode<Value> | undefined
  rest: PathNode<Value> | undefined
  /** The route whose path ends here, and the segment of each of its parameters. */
  route: { value: Value; path: string; params: Map<string, number> } | undefined

  child(segment: string): PathNode<Value> {
    const child = this.children.get(segment) ?? new PathNode<Value>()
    this.children.set(segment, child)
    return child
  }

  find(search: { segments: string[]; isParamTooLong: boolean }, at: number): PathNode<Value>['route'] {
    const segment = search.segments[at]
    if (segment === undefined) return this.route
    const found = this.children.get(segment)?.find(search, at + 1)
    if (found) return found
    if (this.param && segment.length > MAX_PARAM_LENGTH) search.isParamTooLong = true
    else if (this.param) return this.param.find(search, at + 1) ?? this.rest?.route
    return this.rest?.route
  }
}

/** The first character is always a slash, except in `OPTIONS *`, which counts as `/`. */
const segmentsOf = (path: string): string[] => path.slice(1).split('/')

function decodePath(path: string): string[] {
  const segments = segmentsOf(path)
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    throw badRequest('path is not valid')
  }
}

/** Clients send an absolute URL to a proxy, and some proxies pass it on. */
function toPathAndQuery(url: string): string {
  const [, host, rest = ''] = url.startsWith('/') ? [] : (/^https?:\/\/([^/?]*)(.*)$/is.exec(url) ?? [])
  if (host === undefined) return url
  if (host === '' || url.includes('#') || !URL.canParse(url)) throw badRequest('path is not valid')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** PostgreSQL cannot compare a text that contains NUL. */
export function refuseNul(url: string): void {
  if (url.includes('%00')) throw badRequest('url must not contain nul characters')
}

/** The parameters of a query by name; several of one name are a list. Invalid escapes stay as they are. */
export function parseQuery(query: string): Record<string, string | string[]> {
  const params: Record<string, string | string[]> = Object.create(null)
  for (const pair of query.split('&').filter(Boolean)) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decodeQueryPart)
    const known = params[name]
    params[name] = known === undefined ? value : [known, value].flat()
  }
  return params
}

function decodeQueryPart(part: string): string {
  const text = part.replaceAll('+', ' ')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
