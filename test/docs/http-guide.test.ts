import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openFakeBroker } from '../broker/fake-broker.ts'
import { openUpstreamServer } from '../connections/test-context.ts'
import { FOUNDER_KEY, type TestApp, testApp } from '../app.ts'
import { CLIENT_ROUTES, FOUNDER_ROUTES, OPEN_ROUTES } from '../planes/route-table.ts'
import { fieldAt, type Request, requestOf, type Step, stepsOf, type Variables, wordsOf } from './curl.ts'
import { blocks, page, ROOT } from './pages.ts'

const GUIDE = page('docs/http-guide.md')

test('every example of the guide answers as it and the reference say, and every route has one', {
  timeout: 120_000,
}, async () => {
  const { app, places } = await guidedApp()
  const variables: Variables = { SVC_KEY: FOUNDER_KEY }
  const tried: Request[] = []
  for (const step of blocks(GUIDE, 'sh').flatMap(stepsOf)) {
    if (step.kind === 'set') variables[step.name] = wordsOf(step.words, variables).join(' ')
    else tried.push(await carryOut(step, variables, places))
    if (step.kind === 'set' && step.name === 'URL') variables.URL = app.url
  }
  const { body: reference } = await app.call('GET', '/openapi.json')
  expect(routesOf(reference).filter((route) => !tried.some((request) => isOf(request, route)))).toEqual([])
})

test('the guide has a section for each part of the API', async () => {
  const { body: reference } = await (await testApp({ store: 'sqlite' })).call('GET', '/openapi.json')
  const tags: string[] = reference.tags.map(({ name }: { name: string }) => name.replace('_', ' ').toLowerCase())
  const sections = [...GUIDE.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase())
  expect(tags.filter((tag) => !sections.includes(tag))).toEqual([])
})

/** The example wedges and blueprints, and stand-ins for what lies outside. */
async function guidedApp(): Promise<{ app: TestApp; places: Record<string, string> }> {
  const outside = await openUpstreamServer((_request, response) => response.end('{}'))
  const broker = await openFakeBroker()
  const env = {
    SVC_WEDGES_DIR: join(ROOT, 'wedges'),
    SVC_BLUEPRINTS_DIR: join(ROOT, 'blueprints'),
    SVC_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SVC_EGRESS_ALLOW: '127.0.0.1',
    BROKER_API_KEY: 'broker-k3y',
    BROKER_BASE_URL: broker.url,
  }
  const places = { 'https://mail.example.com': outside.url, 'https://hooks.example.com': outside.url }
  return { app: await testApp({ store: 'sqlite', env }), places }
}

async function carryOut(
  step: Step & { kind: 'curl' },
  variables: Variables,
  places: Record<string, string>,
): Promise<Request> {
  const request = requestOf(wordsOf(step.words, variables))
  for (const [from, to] of Object.entries(places)) request.body = request.body?.replaceAll(from, to) ?? null
  let { status, body } = await send(request)
  // What a run brings about is there a moment later.
  while (step.keep && request.method === 'GET' && status === 200 && !fieldAt(body, step.keep.path)) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    ;({ status, body } = await send(request))
  }
  const wanted = step.status ?? (status >= 200 && status < 300 ? status : '2xx')
  expect(`${step.words}\n→ ${status} ${status === wanted ? '' : JSON.stringify(body)}`).toBe(
    `${step.words}\n→ ${wanted} `,
  )
  expectAsDeclared(request, status, body)
  if (!step.keep) return request
  const kept = fieldAt(body, step.keep.path)
  expect(kept, `${step.keep.path} of the answer to ${step.words}`).toEqual(expect.any(String))
  variables[step.keep.name] = String(kept)
  return request
}

/** A status that the reference has, and of the body every field that it has and no other. */
function expectAsDeclared(request: Request, status: number, body: unknown): void {
  const route = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES]
    .filter((one) => isOf(request, inDocument(one)))
    .at(0)
  const declared = route?.responses[status]
  if (status >= 400 && declared === undefined) return
  expect(declared, `${status} of ${request.method} ${request.url}`).toBeDefined()
  if (declared instanceof z.ZodType && status !== 204)
    expect(declared.parse(body), `${request.method} ${request.url}`).toEqual(body)
}

const inDocument = ({ method, path }: RouteOf): RouteOf => ({ method, path: path.replaceAll(/:(\w+)/g, '{$1}') })

async function send({ method, url, headers, body, endless }: Request): Promise<{ status: number; body: unknown }> {
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const response = await fetch(url, { method, headers, body, signal: gone.signal })
  if (endless) {
    const first = await response.body?.getReader().read()
    gone.abort()
    return { status: response.status, body: Buffer.from(first?.value ?? []).toString() }
  }
  const text = await response.text()
  return { status: response.status, body: /^[[{]/.test(text) ? jsonOr(text) : text }
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface RouteOf {
  method: string
  path: string
}

const routesOf = (reference: { paths: Record<string, object> }): RouteOf[] =>
  Object.entries(reference.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  )

function isOf(request: Request, { method, path }: RouteOf): boolean {
  const { pathname } = new URL(request.url)
  const [asked, parts] = [pathname.split('/'), path.split('/')]
  return (
    request.method === method &&
    asked.length === parts.length &&
    parts.every((part, at) => part === asked[at] || part.startsWith('{'))
  )
}
