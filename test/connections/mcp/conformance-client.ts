/**
 * The service as the client under test of `@modelcontextprotocol/conformance`, which needs Node 22 itself. By hand:
 * `conformance client --command "npx tsx test/connections/mcp/conformance-client.ts" --suite auth`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp } from '../../../src/server/app.ts'
import { isJsonObject, type JsonObject } from '../../../src/platform/base/json.ts'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { readThroughConnection } from '../../../src/connections/actions/read-through.ts'
import { createSystemWorld } from '../../../src/platform/ctx/system-world.ts'
import type { ApiResponse } from '../../http.ts'

const serverUrl = process.argv.at(-1) ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const KEY = 'svc_key_test_0123456789abcdefghijklmnop'

const dir = mkdtempSync(join(tmpdir(), 'svc-conformance-'))
const settings = {
  SVC_PORT: '0',
  SVC_DATA_DIR: join(dir, 'data'),
  SVC_WEDGES_DIR: join(dir, 'wedges'),
  SVC_BLUEPRINTS_DIR: join(dir, 'blueprints'),
  SVC_SANDBOX: 'process',
  SVC_POOL: '0',
  SVC_DRAIN_DELAY_S: '0',
  SVC_FOUNDER_API_KEY: KEY,
  SVC_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  SVC_EGRESS_ALLOW: 'localhost,127.0.0.1,::1',
  SVC_PUBLIC_URL: 'http://localhost:3000',
}
const app = await startApp(loadConfig(settings, dir), createSystemWorld('silent'), () => {})
try {
  await run()
} finally {
  await app.stop()
  rmSync(dir, { recursive: true, force: true })
}
process.exit()

async function call(method: string, path: string, body?: unknown): Promise<Pick<ApiResponse, 'status' | 'body'>> {
  const response = await fetch(app.url + path, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json().catch(() => null) }
}

async function run(): Promise<void> {
  const { client_id, client_secret } = context
  const probe = await fetch(serverUrl, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  const auth = probe.status === 401 ? { auth: { type: 'mcp', ...(client_id && { client_id }) } } : {}
  const config = { url: serverUrl, ...auth }
  const { body } = await call('POST', '/v1/connections', { kind: 'mcp', name: 'server', config })
  const path = `/v1/connections/${body.id}`
  if (client_secret) await call('POST', `${path}/secret`, { value: client_secret })
  if (probe.status === 401) await authorise(path)
  const refreshed = await call('POST', `${path}/tools/refresh`)
  if (refreshed.status !== 200) throw new Error(JSON.stringify(refreshed))
  for (const { name, input_schema } of refreshed.body.data) {
    await call('PUT', `${path}/tools/${name}`, { class: 'read' })
    const args = { ...(input_schema.properties?.a && { a: 5 }), ...(input_schema.properties?.b && { b: 3 }) }
    const request = { capability: `server:${name}`, path: null, arguments: args }
    const askPerson = async ({ schema }: { schema: JsonObject }) => defaultsOf(schema)
    const result = await readThroughConnection(app.ctx, { id: body.id }, { ...request, askPerson })
    console.error(name, JSON.stringify(result))
  }
}

/** Follows the redirects as a browser would. */
async function authorise(path: string): Promise<void> {
  const started = await call('POST', `${path}/oauth/start`, {})
  if (started.status !== 200) throw new Error(JSON.stringify(started))
  const page = await fetch(started.body.authorize_url, { redirect: 'manual' })
  const back = new URL(page.headers.get('location') ?? '')
  const answer = await fetch(`${app.url}${back.pathname}${back.search}`, { redirect: 'manual' })
  console.error('callback', answer.status, answer.headers.get('location'))
}

/** What a form shows before a person changes it. */
function defaultsOf({ properties }: JsonObject): JsonObject {
  const fields = isJsonObject(properties) ? Object.entries(properties) : []
  return Object.fromEntries(
    fields.flatMap(([name, field]) =>
      isJsonObject(field) && field.default !== undefined ? [[name, field.default]] : [],
    ),
  )
}
