import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { founderPlaneRoutes } from '../../src/server/planes/founder.ts'
import { type GatedApp, openGatedApp, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { openMcpServer, type TestMcpServer } from '../connections/mcp/mcp-server.ts'
import type { FakeUpstream } from '../fake-upstream.ts'
import { anyStore, FOUNDER_KEY, writeFiles } from '../app.ts'
import { anthropicStream, type FakeProvider, startFakeProvider } from '../execution/models/fake-provider.ts'
import { readFileTexts, readRowTexts, type Canaries, findLeaks, type SearchedTexts } from './find-leaks.ts'

const CANARIES: Canaries = {
  'the vaulted secret': 'cnry/vault+Zx81=qPw7 Tn5',
  'the secret in the environment': 'cnry.env~Lk29&mVb6#Rd4',
  'the signing secret': `whsec_${Buffer.from('cnry-hook-Hs63-uYe0-Wj8').toString('base64')}`,
  'the secret of operations': 'cnry:ops!Pq52*wXn8 Jm1',
  'the credential of the MCP server': 'cnry;mcp?Dv94^hRs3 Yk6',
  'the sealing key': Buffer.from('cnry-seal-Gf47-oIc2-Xa9-32-bytes').toString('base64'),
  'the bytes of the sealing key': 'cnry-seal-Gf47-oIc2-Xa9-32-bytes',
  'the model key': 'sk-cnry-model-Bt58-eNq1-Kz3',
  'the founder key': FOUNDER_KEY,
}

const ENV = {
  SVC_SECRET_KEY: CANARIES['the sealing key'] ?? '',
  MAIL_TOKEN: CANARIES['the secret in the environment'] ?? '',
  ANTHROPIC_API_KEY: CANARIES['the model key'] ?? '',
  SVC_MODEL: 'anthropic/claude-sonnet-4-5',
}

const SECRET_NAMES = new Map([
  ['crm', 'the vaulted secret'],
  ['tracker', 'the secret of operations'],
  ['notes', 'the credential of the MCP server'],
])

const TRACKER_OPERATIONS = [
  { name: 'issues.create', method: 'POST', path: '/{project}/issues', body: 'form' },
  { name: 'issues.list', method: 'GET', path: '/issues', query: { state: '{state}' }, read: true },
]

const toolCall = (tool: string, connection: string, extra: object) =>
  anthropicStream({ call: { name: tool, input: { connection, capability: connection, ...extra } } })

/** Makes the upstream server return the credential that it received, in many encodings. */
function echoCredentials(outside: FakeUpstream): void {
  outside.respond = ({ url, headers }, response) => {
    const credential = String(headers.authorization ?? headers['webhook-signature'])
    const secret = credential.replace(/^Bearer /, '')
    const echoed = {
      credential,
      [secret]: 'as a field name',
      escaped: encodeURIComponent(secret),
      base64: [credential, secret, ` ${credential}`].map((text) => Buffer.from(text).toString('base64url')),
      hex: Buffer.from(credential).toString('hex'),
      headers,
    }
    const type = `application/json; token="${encodeURIComponent(secret)}"`
    response.writeHead(url.endsWith('broken') ? 500 : 200, {
      'content-type': type,
      'x-echo': encodeURIComponent(credential),
    })
    response.end(JSON.stringify(echoed))
  }
}

/** An MCP server whose results and errors contain the credential that it received. */
async function openEchoingMcpServer(): Promise<TestMcpServer> {
  const server = await openMcpServer()
  server.onCall = ({ received: { headers }, arguments: { text }, respond }) => {
    const credential = String(headers.authorization)
    const structuredContent = { headers, hex: Buffer.from(credential).toString('hex') }
    const content = [{ type: 'text', text: `you sent ${credential}` }]
    if (text === 'broken') respond({ error: { code: -32603, message: `cannot use ${credential}` } })
    else respond({ result: { content, structuredContent } })
  }
  return server
}

anyStore((store) => {
  describe('after a gated run', () => {
    let app: GatedApp
    let provider: FakeProvider
    const responseTexts: SearchedTexts = new Map()
    const canaries = { ...CANARIES }
    const callAndRecord = async (method: string, path: string, body?: unknown, key?: string) => {
      const response = await app.call(method, path, body, key ? { key } : {})
      const source = `${method} ${path} (${response.status})`
      responseTexts.set(source, JSON.stringify([response.body, [...response.headers]]))
      return response.body
    }

    beforeAll(async () => {
      const payload = { text: 'hello' }
      provider = await startFakeProvider(
        ...[
          toolCall('act', 'crm', { payload }),
          toolCall('read', 'crm', { path: 'echo' }),
          toolCall('read', 'crm', { path: 'broken' }),
          toolCall('act', 'mail', { payload }),
          toolCall('act', 'hook', { payload }),
          anthropicStream({ call: { name: 'tracker__issues_create', input: { project: 'p 1', title: 'hello' } } }),
          anthropicStream({ call: { name: 'tracker__issues_list', input: { state: 'broken' } } }),
          anthropicStream({ call: { name: 'notes__echo', input: { text: 'fine' } } }),
          anthropicStream({ call: { name: 'notes__echo', input: { text: 'broken' } } }),
          anthropicStream({ text: 'Done.', call: { name: 'finish', input: { output: { reply: 'done' } } } }),
        ].map((text) => ({ chunks: [text] })),
        // The second run gets an error from the provider that contains the whole key.
        { status: 401, json: { error: { type: 'authentication_error', message: `bad key ${ENV.ANTHROPIC_API_KEY}` } } },
      )
      const wedges = {
        ...gatedWedgeFiles('gate', {
          connections: ['crm', 'mail', 'hook', 'tracker', 'notes'],
          policy: { auto_approve: [{ action: 'mail' }, { action: 'hook' }, { action: 'tracker:' }] },
        }),
      }
      app = await openGatedApp(store, wedges, { ...ENV, ANTHROPIC_BASE_URL: provider.url })
      echoCredentials(app.outside)
      const config = { base_url: `${app.outside.url}/tracker`, operations: TRACKER_OPERATIONS }
      await callAndRecord('POST', '/v1/connections', { kind: 'custom', name: 'tracker', config })
      const mcp = await openEchoingMcpServer()
      const notes = { kind: 'mcp', name: 'notes', config: { url: mcp.url } }
      const { id } = await callAndRecord('POST', '/v1/connections', notes)
      await setSecrets()
      await callAndRecord('POST', `/v1/connections/${id}/tools/refresh`)
      await callAndRecord('PUT', `/v1/connections/${id}/tools/echo`, { class: 'read' })
      await callAndRecord('GET', `/v1/connections/${id}/tools`)
      await runTasks()
      expect(mcp.calls).toHaveLength(2)
      await readEverything()
    })
    afterAll(async () => {
      await app?.stop()
      await app?.outside.close()
      await provider?.close()
    })

    async function setSecrets(): Promise<void> {
      for (const { id, name } of (await app.call('GET', '/v1/connections')).body.data) {
        if (name === 'mail') await callAndRecord('PUT', `/v1/connections/${id}`, { secret_ref: 'env:MAIL_TOKEN' })
        const value = CANARIES[SECRET_NAMES.get(name) ?? 'the signing secret']
        if (name !== 'mail') await callAndRecord('POST', `/v1/connections/${id}/secret`, { value })
        await callAndRecord('POST', `/v1/connections/${id}/secret`, { value: [value] })
        await callAndRecord('POST', `/v1/connections/${id}/test`)
        await callAndRecord('GET', `/v1/connections/${id}`)
      }
    }

    async function runTasks(): Promise<void> {
      const task = await app.createTask({ wedge: 'gate', task_type: 'act', input: {} })
      await app.events(task.id, { until: ({ event }) => event === 'approval.requested' })
      const [open] = (await app.call('GET', '/v1/approvals?status=pending')).body.data
      await callAndRecord('POST', `/v1/approvals/${open.approval_id}/approve`, { edited: { text: 'hi' } })
      expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded', error: null })
      expect(app.outside.received.filter(({ method }) => method === 'POST').length).toBeGreaterThanOrEqual(3)
      const refused = await app.createTask({ wedge: 'gate', task_type: 'act', input: {} })
      expect(await app.finished(refused.id)).toMatchObject({ status: 'failed', error: { reason: 'model_failed' } })
    }

    /** Creates accounts with tokens and reads all routes, except the responses that show a token once. */
    async function readEverything(): Promise<void> {
      const create = async (path: string, body: unknown, options = {}) =>
        (await app.call('POST', path, body, options)).body
      const account = { email: 'owner@example.com', password: 'correct horse battery' }
      const session = (await create('/v1/auth/signup', account)).session_token
      const key = (await create('/v1/keys', { name: 'second' })).key
      const client = await create('/v1/clients', { display_name: 'Ann' })
      const link = (await create(`/v1/clients/${client.id}/portal-link`, {})).token
      const portal = (await create('/v1/portal/session', { token: link }, { key: null })).session_token
      const tokens = { 'the session': session, 'the second key': key, 'the link': link, 'the portal session': portal }
      Object.assign(canaries, tokens)
      for (const text of Object.values(tokens)) expect(text).toMatch(/^svc_/)
      for (const path of readablePaths()) await callAndRecord('GET', path)
      for (const { id, artifacts } of (await callAndRecord('GET', '/v1/tasks')).data) {
        responseTexts.set(`events of ${id}`, JSON.stringify(await app.events(id)))
        for (const path of ['', '/actions', '/trace']) await callAndRecord('GET', `/v1/tasks/${id}${path}`)
        for (const artifact of artifacts) await callAndRecord('GET', `/v1/artifacts/${artifact.id}`)
      }
      for (const path of ['me', 'threads', 'cases']) await callAndRecord('GET', `/v1/portal/${path}`, undefined, portal)
      await callAndRecord('GET', '/v1/tasks', undefined, portal)
      await callAndRecord('GET', '/v1/portal/me', undefined, session)
      await callAndRecord('POST', '/v1/portal/session', { token: link })
    }

    test('no response of the service shows a secret', () => {
      expect(responseTexts.size).toBeGreaterThan(40)
      expect(findLeaks(canaries, responseTexts)).toEqual([])
    })

    test('no row and no file shows a secret, except encrypted in its envelope', async () => {
      const rows = await readRowTexts(app.app)
      expect(rows.get('table vault')).toContain('\\"ct\\"')
      expect(findLeaks(canaries, rows)).toEqual([])
      const files = readFileTexts(join(app.dir, 'data'))
      if (store === 'sqlite') expect([...files.keys()].some((path) => path.endsWith('svc.db'))).toBe(true)
      expect(findLeaks(canaries, files)).toEqual([])
    })

    test('the log of the service shows no secret', () => {
      expect(app.logged.length).toBeGreaterThan(0)
      expect(findLeaks(canaries, new Map([['log', app.logged.join('\n')]]))).toEqual([])
    })

    test('no request to the model shows a secret, except its own key in the header', () => {
      expect(provider.seen.length).toBeGreaterThanOrEqual(7)
      const bodies = provider.seen.map(({ body }, i) => [`model request ${i}`, JSON.stringify(body)] as const)
      expect(findLeaks(canaries, new Map(bodies))).toEqual([])
      expect(bodies.some(([, text]) => text.includes('[secret]'))).toBe(true)
      for (const { headers } of provider.seen) expect(headers['x-api-key']).toBe(ENV.ANTHROPIC_API_KEY)
    })

    test('each secret is sent only to its own upstream path', () => {
      const { received } = app.outside
      const bearers = (path: string) =>
        new Set(received.filter(({ url }) => url.startsWith(path)).map(({ headers }) => headers.authorization))
      expect(bearers('/crm')).toContain(`Bearer ${CANARIES['the vaulted secret']}`)
      expect(received.map(({ url }) => url)).toEqual(
        expect.arrayContaining(['/tracker/p%201/issues', '/tracker/issues?state=broken']),
      )
      expect([...bearers('/tracker')]).toEqual([`Bearer ${CANARIES['the secret of operations']}`])
      expect(bearers('/mail')).toContain(`Bearer ${ENV.MAIL_TOKEN}`)
      expect([...bearers('/hook')]).toEqual([undefined])
      const others = received.filter(({ url }) => !url.startsWith('/crm'))
      const vaulted = { secret: CANARIES['the vaulted secret'] ?? '' }
      expect(findLeaks(vaulted, new Map([['others', JSON.stringify(others)]]))).toEqual([])
    })
  })

  test('an agent that reports everything it can read finds no secret', async () => {
    const agentDir = mkdtempSync(join(tmpdir(), 'svc-spy-'))
    writeFiles(agentDir, SPY)
    const env = { ...ENV, SVC_AGENT_COMMAND: 'node spy.mjs', SVC_AGENT_DIR: agentDir, SVC_SANDBOX: 'auto' }
    const app = await openGatedApp(store, gatedWedgeFiles('gate'), env)
    try {
      for (const { id, name } of (await app.call('GET', '/v1/connections')).body.data) {
        if (name === 'mail') await app.call('PUT', `/v1/connections/${id}`, { secret_ref: 'env:MAIL_TOKEN' })
        else await app.call('POST', `/v1/connections/${id}/secret`, { value: CANARIES['the vaulted secret'] })
      }
      const task = await app.createTask({ wedge: 'gate', task_type: 'act', input: {} })
      const ended = await app.finished(task.id)
      expect(ended).toMatchObject({ status: 'succeeded', output: { brief: { v: 1 }, found: expect.any(Number) } })
      const texts: SearchedTexts = new Map([['task', JSON.stringify(ended)]])
      for (const { id, name } of ended.artifacts as { id: string; name: string }[]) {
        texts.set(name, JSON.stringify((await app.call('GET', `/v1/artifacts/${id}`)).body))
      }
      expect(findLeaks(CANARIES, texts)).toEqual([])
    } finally {
      await app.stop()
      await app.outside.close()
      rmSync(agentDir, { recursive: true, force: true })
    }
  })
})

/** The paths of all GET routes without an id, and those of the wedge. Streams are left out, because they do not end. */
function readablePaths(): string[] {
  const paths = Object.values(founderPlaneRoutes)
    .flat()
    .filter(({ method, responses }) => method === 'GET' && !isEventStream(responses[200]))
    .map(({ path }) => path.replace(':wedge', 'gate'))
  const publicPaths = ['/health', '/openapi.json', '/docs', '/v1/meta', '/v1/auth/session', '/v1/no-such-route']
  return [...paths.filter((path) => !path.includes(':')), ...publicPaths]
}

/** An agent that reports its brief, its environment and every readable file that could contain secrets. */
const SPY = {
  'spy.mjs': `
    import { readdirSync, readFileSync, statSync } from 'node:fs'
    import { join } from 'node:path'
    let text = ''
    for await (const chunk of process.stdin) text += chunk
    const files = {}
    const readFiles = (path, depth) => {
      try {
        if (depth < 0 || Object.keys(files).length > 500) return
        if (statSync(path).isDirectory()) for (const name of readdirSync(path)) readFiles(join(path, name), depth - 1)
        else if (statSync(path).size < 100_000) files[path] = readFileSync(path, 'latin1')
      } catch {}
    }
    for (const folder of [process.cwd(), process.env.HOME, '/agent', '/run', '/custom']) readFiles(folder, 3)
    for (const id of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)))
      for (const name of ['environ', 'cmdline']) {
        try {
          files['/proc/' + id + '/' + name] = readFileSync('/proc/' + id + '/' + name, 'latin1')
        } catch {}
      }
    const content_base64 = Buffer.from(JSON.stringify(files)).toString('base64')
    process.stdout.write(JSON.stringify({ artifact: { name: 'files.json', content_type: 'application/json', content_base64 } }) + '\\n')
    const output = { brief: JSON.parse(text), env: process.env, argv: process.argv, found: Object.keys(files).length }
    process.stdout.write(JSON.stringify({ output }) + '\\n')`,
}

const isEventStream = (response: unknown) =>
  typeof response === 'object' && response !== null && 'eventStreamOf' in response
