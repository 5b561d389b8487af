import { notFound } from '../base/problem.ts'
import { receiveBody } from './bind-route.ts'
import type { HttpRequest } from './http-request.ts'
import { HttpResponse } from './route.ts'
import type { HttpServer } from './server.ts'

const ALLOWED_METHODS = 'GET, POST, PUT, DELETE'
const ALLOWED_HEADERS = 'authorization, content-type, idempotency-key, last-event-id, x-svc-project'
const EXPOSED_HEADERS = 'location, retry-after, idempotency-replayed, x-request-id, x-svc-ignored-fields'
const PREFLIGHT_CACHE_S = '600'

/**
 * Lets browser pages of every origin call the paths below these prefixes. The routes there check the origin themselves, and
 * none of them uses cookies.
 */
export function allowEveryOrigin(app: HttpServer, prefixes: readonly string[]): void {
  app.beforeCalls.push(({ request, response }) => {
    if (prefixes.some((prefix) => request.url.startsWith(prefix)))
      response.setHeader('access-control-allow-origin', '*')
  })
  for (const prefix of prefixes)
    app.add(['OPTIONS'], `${prefix}*`, {
      handle: ({ request }) => answerPreflight(request, 'GET, POST', 'content-type'),
    })
}

/**
 * Lets browser pages of these origins call the API. Credentials are bearer tokens, so cookies are never allowed. The
 * headers are set on the response itself, because streams send only headers of their own.
 */
export function allowOrigins(app: HttpServer, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowedOrigin = ({ headers }: HttpRequest) => origins.find((origin) => origin === headers.origin)
  app.beforeCalls.push(({ request, response }) => {
    const origin = allowedOrigin(request)
    response.setHeader('vary', 'origin')
    if (origin !== undefined) {
      response.setHeader('access-control-allow-origin', origin)
      response.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
    }
  })
  app.add(['OPTIONS'], '/*', {
    async handle({ request }) {
      if (allowedOrigin(request) === undefined) throw notFound('route')
      return answerPreflight(request, ALLOWED_METHODS, ALLOWED_HEADERS)
    },
  })
}

async function answerPreflight(request: HttpRequest, methods: string, headers: string): Promise<HttpResponse> {
  await receiveBody(request, { streamsBody: false })
  return new HttpResponse(204, null, {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': headers,
    'access-control-max-age': PREFLIGHT_CACHE_S,
  })
}
