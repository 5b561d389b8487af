import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openFakeBroker } from '../connections/broker/fake-broker.ts'
import { openMcpServer } from '../connections/mcp/mcp-server.ts'
import { openUpstreamServer } from '../connections/test-context.ts'
import { FOUNDER_KEY, type TestApp, testApp } from '../app.ts'
import { CLIENT_ROUTES, FOUNDER_ROUTES, OPEN_ROUTES } from '../server/planes/route-table.ts'
import {
  readField,
  type CurlRequest,
  parseCurl,
  type GuideStep,
  parseSteps,
  type ShellVariables,
  splitWords,
} from './guide-steps.ts'
import { blocks, page, ROOT } from './pages.ts'

const GUIDE = page('docs/http-guide.md')

test('every example in docs/http-guide.md returns what the API reference declares, and every route has an example', {
  timeout: 120_000,
}, async () => {
  const { app, replacements } = await appForGuide()
  const variables: ShellVariables = { SVC_KEY: FOUNDER_KEY }
  const requests: CurlRequest[] = []
  for (const step of blocks(GUIDE, 'sh').flatMap(parseSteps)) {
    if (step.kind === 'set') variables[step.name] = splitWords(step.words, variables).join(' ')
    else requests.push(await runStep(step, variables, replacements))
    if (step.kind === 'set' && step.name === 'URL') variables.URL = app.url
  }
  const { body: reference } = await app.call('GET', '/openapi.json')
  expect(listRoutes(reference).filter((route) => !requests.some((request) => matchesRoute(request, route)))).toEqual([])
})

test('docs/http-guide.md has a section for every tag of the API reference', async () => {
  const { body: reference } = await (await testApp({ store: 'sqlite' })).call('GET', '/openapi.json')
  const tags: string[] = reference.tags.map(({ name }: { name: string }) => name.replace('_', ' ').toLowerCase())
  const sections = [...GUIDE.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase())
  expect(tags.filter((tag) => !sections.includes(tag))).toEqual([])
})

/** Starts a service with the example wedges and blueprints, and fake servers for outside services. */
async function appForGuide(): Promise<{ app: TestApp; replacements: Record<string, string> }> {
  const upstream = await openUpstreamServer((_request, response) => response.end('{}'))
  const mcp = await openMcpServer()
  const broker = await openFakeBroker()
  const env = {
    SVC_WEDGES_DIR: join(ROOT, 'wedges'),
    SVC_BLUEPRINTS_DIR: join(ROOT, 'blueprints'),
    SVC_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_PUBLIC_URL: 'https://desk.example.com',
    BROKER_API_KEY: 'broker-k3y',
    BROKER_BASE_URL: broker.url,
  }
  const replacements = {
    'https://mail.example.com': upstream.url,
    'https://hooks.example.com': upstream.url,
    'https://mcp.example.com': mcp.upstream.url,
  }
  return { app: await testApp({ store: 'sqlite', env }), replacements }
}

async function runStep(
  step: GuideStep & { kind: 'curl' },
  variables: ShellVariables,
  replacements: Record<string, string>,
): Promise<CurlRequest> {
  const request = parseCurl(splitWords(step.words, variables))
  for (const [from, to] of Object.entries(replacements)) request.body = request.body?.replaceAll(from, to) ?? null
  let { status, body } = await send(request)
  // The result of a run exists a moment later.
  while (step.keep && request.method === 'GET' && status === 200 && !readField(body, step.keep.path)) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    ;({ status, body } = await send(request))
  }
  const expected = step.status ?? (status >= 200 && status < 300 ? status : '2xx')
  expect(`${step.words}\n→ ${status} ${status === expected ? '' : JSON.stringify(body)}`).toBe(
    `${step.words}\n→ ${expected} `,
  )
  expectDeclaredResponse(request, status, body)
  if (!step.keep) return request
  const field = readField(body, step.keep.path)
  expect(field, `${step.keep.path} in the response to ${step.words}`).toEqual(expect.any(String))
  variables[step.keep.name] = String(field)
  return request
}

/** Expects a declared status, and a body with exactly the declared fields. */
function expectDeclaredResponse(request: CurlRequest, status: number, body: unknown): void {
  const route = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES]
    .filter((one) => matchesRoute(request, toDocumentedRoute(one)))
    .at(0)
  const declared = route?.responses[status]
  if (status >= 400 && declared === undefined) return
  expect(declared, `${status} of ${request.method} ${request.url}`).toBeDefined()
  if (declared instanceof z.ZodType && status !== 204)
    expect(declared.parse(body), `${request.method} ${request.url}`).toEqual(body)
}

const toDocumentedRoute = ({ method, path }: DocumentedRoute): DocumentedRoute => ({
  method,
  path: path.replaceAll(/:(\w+)/g, '{$1}'),
})

async function send({
  method,
  url,
  headers,
  body,
  isEndless,
}: CurlRequest): Promise<{ status: number; body: unknown }> {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  // As curl, which follows no redirects.
  const response = await fetch(url, { method, headers, body, signal: abort.signal, redirect: 'manual' })
  if (isEndless) {
    const first = await response.body?.getReader().read()
    abort.abort()
    return { status: response.status, body: Buffer.from(first?.value ?? []).toString() }
  }
  const text = await response.text()
  return { status: response.status, body: /^[[{]/.test(text) ? tryParseJson(text) : text }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface DocumentedRoute {
  method: string
  path: string
}

const listRoutes = (reference: { paths: Record<string, object> }): DocumentedRoute[] =>
  Object.entries(reference.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  )

function matchesRoute(request: CurlRequest, { method, path }: DocumentedRoute): boolean {
  const { pathname } = new URL(request.url)
  const [segments, pattern] = [pathname.split('/'), path.split('/')]
  return (
    request.method === method &&
    segments.length === pattern.length &&
    pattern.every((part, index) => part === segments[index] || part.startsWith('{'))
  )
}
