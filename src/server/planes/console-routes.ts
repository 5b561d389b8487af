import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../platform/base/problem.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import { type HttpResponse, openRoute, type Route } from '../../platform/http/route.ts'
import { createStaticFiles, type StaticFiles } from '../../platform/http/static-files.ts'

/** The console at `/` and the portal at `/portal`. Each is one page that is sent for every address below it. */
export function consoleRoutes(dir: string = consoleDir()): Route<null>[] {
  const files = createStaticFiles(dir)
  const console = (request: HttpRequest) => page(files, 'index.html', request)
  const portal = (request: HttpRequest) => page(files, 'portal.html', request)
  return [
    servePage('/', 'The console', console),
    servePage('/portal', 'The portal', portal),
    servePage('/portal/*', 'The portal', portal),
    servePage('/widget.js', 'The script of the web widget', (request) => widgetScript(files, request)),
    servePage('/assets/*', 'Scripts and styles', (request) => asset(files, request)),
    servePage('/*', 'The console', (request) => fileOrConsole(files, request, console)),
  ]
}

const servePage = (path: string, summary: string, respond: (request: HttpRequest) => HttpResponse): Route<null> =>
  openRoute('GET', path, { summary, responses: { 200: 'text/html' }, handle: async ({ request }) => respond(request) })

/**
 * Scripts and styles come from this server only. A style attribute that a script sets does not count as an inline
 * style, so the virtual lists of the console need no exception.
 */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    // Previews of PDF files, which the page has fetched itself.
    'frame-src blob:',
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/** For files whose name contains a hash of their content. */
const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable' }

function page(files: StaticFiles, name: string, request: HttpRequest): HttpResponse {
  const response = files.respond(name, request.headers, PAGE_HEADERS)
  if (!response) throw new Problem(503, 'the console is not built; run `npm run build` and reload this page')
  return response
}

function asset(files: StaticFiles, request: HttpRequest): HttpResponse {
  const response = files.respond(request.path.slice(1), request.headers, IMMUTABLE)
  if (!response) throw noRoute(request)
  return response
}

/** Pages of every origin may load it, even if they isolate themselves from other origins. */
function widgetScript(files: StaticFiles, request: HttpRequest): HttpResponse {
  const headers = { 'cache-control': 'public, max-age=300', 'cross-origin-resource-policy': 'cross-origin' }
  const response = files.respond('widget.js', request.headers, headers)
  if (!response) throw new Problem(503, 'the widget is not built; run `npm run build`')
  return response
}

/** A program that calls a wrong path gets a 404 in JSON; only a request that accepts HTML gets the console. */
function fileOrConsole(
  files: StaticFiles,
  request: HttpRequest,
  console: (request: HttpRequest) => HttpResponse,
): HttpResponse {
  const { path } = request
  if (path.startsWith('/v1/')) throw noRoute(request)
  const file = path === '/index.html' ? null : files.respond(path.slice(1), request.headers, PAGE_HEADERS)
  if (file) return file
  if (!request.headers.accept?.includes('text/html')) throw noRoute(request)
  return console(request)
}

const noRoute = (request: HttpRequest) => new Problem(404, `no such route: ${request.method} ${request.path}`)

/** In the package, the folder next to the bundle; in development, `dist/console`. */
function consoleDir(): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const packaged = join(here, 'console')
  return existsSync(packaged) ? packaged : join(here, '../../../dist/console')
}
