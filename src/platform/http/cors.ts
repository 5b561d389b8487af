import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notFound } from '../base/problem.ts'

const ALLOWED_METHODS = 'GET, POST, PUT, DELETE'
const ALLOWED_HEADERS = 'authorization, content-type, idempotency-key, last-event-id, x-svc-project'
const EXPOSED_HEADERS = 'location, retry-after, idempotency-replayed, x-request-id, x-svc-ignored-fields'
const PREFLIGHT_CACHE_S = '600'

/**
 * Lets browser pages of every origin call the paths below these prefixes. The routes there check the origin themselves, and
 * none of them uses cookies.
 */
export function allowEveryOrigin(app: FastifyInstance, prefixes: readonly string[]): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (prefixes.some((prefix) => request.url.startsWith(prefix)))
      reply.raw.setHeader('access-control-allow-origin', '*')
    done()
  })
  for (const prefix of prefixes) {
    app.options(`${prefix}*`, async (_request, reply) => {
      reply.raw.setHeader('access-control-allow-methods', 'GET, POST')
      reply.raw.setHeader('access-control-allow-headers', 'content-type')
      reply.raw.setHeader('access-control-max-age', PREFLIGHT_CACHE_S)
      return reply.code(204).send()
    })
  }
}

/**
 * Lets browser pages of these origins call the API. Credentials are bearer tokens, so cookies are never allowed. The
 * headers are set on the raw response, because streams do not go through Fastify's reply.
 */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowedOrigin = ({ headers }: FastifyRequest) => origins.find((origin) => origin === headers.origin)
  app.addHook('onRequest', (request, reply, done) => {
    const origin = allowedOrigin(request)
    reply.raw.setHeader('vary', 'origin')
    if (origin !== undefined) {
      reply.raw.setHeader('access-control-allow-origin', origin)
      reply.raw.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
    }
    done()
  })
  app.options('*', async (request, reply) => {
    if (allowedOrigin(request) === undefined) throw notFound('route')
    reply.raw.setHeader('access-control-allow-methods', ALLOWED_METHODS)
    reply.raw.setHeader('access-control-allow-headers', ALLOWED_HEADERS)
    reply.raw.setHeader('access-control-max-age', PREFLIGHT_CACHE_S)
    return reply.code(204).send()
  })
}
