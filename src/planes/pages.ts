import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../base/problem.ts'
import { type Answer, type Route, route } from '../http/route.ts'
import { staticFolder, type StaticFolder } from '../http/static.ts'

/** The console at `/` and the portal at `/portal`: files that the build made, and the same two pages at every address. */
export function pages(dir: string = consoleDir()): Route<null>[] {
  const files = staticFolder(dir)
  const console = (request: FastifyRequest) => page(files, 'index.html', request)
  const portal = (request: FastifyRequest) => page(files, 'portal.html', request)
  return [
    serve('/', 'The console', console),
    serve('/portal', 'The portal', portal),
    serve('/portal/*', 'The portal', portal),
    serve('/assets/*', 'Scripts and styles', (request) => asset(files, request)),
    serve('/*', 'The console', (request) => fileOrConsole(files, request, console)),
  ]
}

const serve = (path: string, summary: string, answer: (request: FastifyRequest) => Answer): Route<null> =>
  route('GET', path, { summary, answers: { 200: 'text/html' }, handle: async ({ request }) => answer(request) })

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
const FOREVER = { 'cache-control': 'public, max-age=31536000, immutable' }

function page(files: StaticFolder, name: string, request: FastifyRequest): Answer {
  const answer = files.answer(name, request.headers, PAGE_HEADERS)
  if (!answer) throw new Problem(503, 'the console was not built; run `npm run build` and load this page again')
  return answer
}

function asset(files: StaticFolder, request: FastifyRequest): Answer {
  const answer = files.answer(pathOf(request).slice(1), request.headers, FOREVER)
  if (!answer) throw noRoute(request)
  return answer
}

/** A program that mistypes a path gets the JSON that it expects; only who asks for a page gets one. */
function fileOrConsole(
  files: StaticFolder,
  request: FastifyRequest,
  console: (request: FastifyRequest) => Answer,
): Answer {
  const path = pathOf(request)
  if (path.startsWith('/v1/')) throw noRoute(request)
  const file = path === '/index.html' ? null : files.answer(path.slice(1), request.headers, PAGE_HEADERS)
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
