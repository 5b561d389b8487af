import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HttpResponse } from '../../../src/platform/http/route.ts'
import { createStaticFiles } from '../../../src/platform/http/static-files.ts'
import { consoleRoutes } from '../../../src/server/planes/console-routes.ts'
import { sharedApp } from '../../app.ts'

const HTML = { key: null, headers: { accept: 'text/html' } }

describe('console and portal pages', () => {
  const app = sharedApp({ store: 'sqlite' })

  test('a request that accepts HTML gets the console at every path outside the API', async () => {
    for (const path of ['/', '/approvals', '/tasks/task_1?view=trace', '/anything/else']) {
      const { status, headers, body } = await app().call('GET', path, undefined, HTML)
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      expect(body).toContain('<title>Agent Work Service</title>')
    }
    expect((await app().call('GET', '/portal', undefined, HTML)).body).toContain('<title>Client portal</title>')
  })

  test('an unknown API path, or a request that does not accept HTML, gets a 404 in JSON', async () => {
    expect(await app().call('GET', '/v1/nothing', undefined, HTML)).toMatchObject({
      status: 404,
      body: { error: 'no such route: GET /v1/nothing' },
    })
    expect(await app().call('GET', '/tasks')).toMatchObject({
      status: 404,
      body: { error: 'no such route: GET /tasks' },
    })
    expect(await app().call('GET', '/assets/none.js', undefined, HTML)).toMatchObject({ status: 404 })
  })

  test('pages respond to HEAD like to GET, and the API does not', async () => {
    const asset = /\/assets\/[^"]+\.js/.exec((await app().call('GET', '/', undefined, HTML)).body)?.[0] ?? ''
    for (const path of ['/', '/tasks/task_1', '/portal', '/docs', '/openapi.json', '/health', asset]) {
      const [got, head] = await Promise.all(['GET', 'HEAD'].map((method) => app().call(method, path, undefined, HTML)))
      expect([path, head?.status, head?.body]).toEqual([path, 200, ''])
      for (const name of ['content-type', 'etag', 'content-security-policy', 'cache-control'])
        expect([path, name, head?.headers.get(name)]).toEqual([path, name, got?.headers.get(name)])
    }
    expect((await app().call('HEAD', '/v1/tasks')).status).toBe(404)
    expect((await app().call('HEAD', '/v1/internal/x')).status).toBe(401)
  })

  test('the content security policy allows only files of this server', async () => {
    const { headers } = await app().call('GET', '/', undefined, HTML)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
    expect(policy).toContain("img-src 'self' data: blob:; frame-src blob:; font-src 'self'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('pages are compressed and revalidated, and hashed files are cached forever', async () => {
    const page = await app().call('GET', '/', undefined, HTML)
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const asset = /\/assets\/[^"]+\.js/.exec(page.body)?.[0] ?? ''
    const getAsset = (encodings: string) =>
      app().call('GET', asset, undefined, { key: null, headers: { 'accept-encoding': encodings } })
    const compressed = await getAsset('gzip, br')
    expect(compressed.headers.get('content-encoding')).toBe('gzip')
    expect(compressed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect((await getAsset('br, gzip;q=0')).headers.get('content-encoding')).toBe(null)
    const etag = page.headers.get('etag') ?? ''
    const again = { key: null, headers: { ...HTML.headers, 'if-none-match': etag } }
    expect((await app().call('GET', '/', undefined, again)).status).toBe(304)
  })

  test('without a build the console responds with 503 and the command to run', async () => {
    const home = consoleRoutes('/nowhere/at/all').find(({ path }) => path === '/')
    const input = { ctx: app().ctx, scope: null, params: {}, validate: () => ({ query: {}, body: {} }) }
    const request = { method: 'GET', url: '/', headers: {} } as never
    await expect(home?.run({ ...input, request })).rejects.toMatchObject({
      status: 503,
      message: 'the console is not built; run `npm run build` and reload this page',
    })
  })
})

describe('static files', () => {
  test('static files are only files inside their folder', () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-static-'))
    try {
      mkdirSync(join(dir, 'public'))
      writeFileSync(join(dir, 'public', 'page.html'), 'hello')
      writeFileSync(join(dir, 'secret.html'), 'no')
      const folder = createStaticFiles(join(dir, 'public'))
      expect(folder.respond('page.html', {}, {})).toBeInstanceOf(HttpResponse)
      for (const name of ['../secret.html', 'public/../../secret.html', '/etc/passwd', '', '..', 'page.html/']) {
        expect(folder.respond(name, {}, {})).toBeNull()
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
