import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../base/problem.ts'
import { type HttpResponse, type Route, defineRoute } from '../http/route.ts'
import { createStaticFiles, type StaticFiles } from '../http/static-files.ts'

/** The console at `/` and the portal at `/portal`: files that the build made, and the same two pages at every address. */
export function consolePages(dir: string = consoleDir()): Route<null>[] {
  const files = createStaticFiles(dir)
  const console = (request: FastifyRequest) => page(files, 'index.html', request)
  const portal = (request: FastifyRequest) => page(files, 'portal.html', request)
  return [
    servePage('/', 'The console', console),
    servePage('/portal', 'The portal', portal),
    servePage('/portal/*', 'The portal', portal),
    servePage('/assets/*', 'Scripts and styles', (request) => asset(files, request)),
    servePage('/*', 'The console', (request) => fileOrConsole(files, request, console)),
  ]
}

const servePage = (path: string, summary: string, answer: (request: FastifyRequest) => HttpResponse): Route<null> =>
  defineRoute('GET', path, { summary, responses: { 200: 'text/html' }, handle: async ({ request }) => answer(request) })

/**
 * Scripts and styles come from here only. Style attributes set by a script are not inline styles to a browser, so
 * even the virtual lists need no exception.
 */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/** The name holds a hash of the content. */
const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable' }

function page(files: StaticFiles, name: string, request: FastifyRequest): HttpResponse {
  const answer = files.respond(name, request.headers, PAGE_HEADERS)
  if (!answer) throw new Problem(503, 'the console was not built; run `npm run build` and load this page again')
  return answer
}

function asset(files: StaticFiles, request: FastifyRequest): HttpResponse {
  const answer = files.respond(pathOf(request).slice(1), request.headers, IMMUTABLE)
  if (!answer) throw noRoute(request)
  return answer
}

/** A program that mistypes a path gets the JSON that it expects; only who asks for a page gets one. */
function fileOrConsole(
  files: StaticFiles,
  request: FastifyRequest,
  console: (request: FastifyRequest) => HttpResponse,
): HttpResponse {
  const path = pathOf(request)
  if (path.startsWith('/v1/')) throw noRoute(request)
  const file = path === '/index.html' ? null : files.respond(path.slice(1), request.headers, PAGE_HEADERS)
  if (file) return file
  if (!request.headers.accept?.includes('text/html')) throw noRoute(request)
  return console(request)
}

const pathOf = (request: FastifyRequest) => request.url.split('?')[0] ?? '/'

const noRoute = (request: FastifyRequest) => new Problem(404, `no such route: ${request.method} ${pathOf(request)}`)

/** Beside the bundle; in development, in `dist`. */
function consoleDir(): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const beside = join(here, 'console')
  return existsSync(beside) ? beside : join(here, '..', '..', 'dist', 'console')
}
