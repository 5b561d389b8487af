import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { founderPlaneRoutes } from '../../src/planes/founder.ts'
import { type GatedApp, openGatedApp, gatedWedgeFiles } from '../approvals/gated-app.ts'
import type { FakeUpstream } from '../fake-upstream.ts'
import { eachStore, FOUNDER_KEY, writeFiles } from '../app.ts'
import { anthropicStream, type FakeProvider, startFakeProvider } from '../models/fake-provider.ts'
import { readFileTexts, readRowTexts, type Canaries, findLeaks, type SearchedTexts } from './find-leaks.ts'

const CANARIES: Canaries = {
  'the vaulted secret': 'cnry/vault+Zx81=qPw7 Tn5',
  'the secret in the environment': 'cnry.env~Lk29&mVb6#Rd4',
  'the signing secret': `whsec_${Buffer.from('cnry-hook-Hs63-uYe0-Wj8').toString('base64')}`,
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

const use = (tool: string, connection: string, more: object) =>
  anthropicStream({ call: { name: tool, input: { connection, capability: connection, ...more } } })

/** Every way in which an upstream can hand back what it was given. */
function echo(outside: FakeUpstream): void {
  outside.respond = ({ url, headers }, response) => {
    const given = String(headers.authorization ?? headers['webhook-signature'])
    const secret = given.replace(/^Bearer /, '')
    const said = {
      given,
      [secret]: 'as a key',
      escaped: encodeURIComponent(secret),
      base64: [given, secret, ` ${given}`].map((text) => Buffer.from(text).toString('base64url')),
      hex: Buffer.from(given).toString('hex'),
      headers,
    }
    const type = `application/json; token="${encodeURIComponent(secret)}"`
    response.writeHead(url.endsWith('broken') ? 500 : 200, {
      'content-type': type,
      'x-echo': encodeURIComponent(given),
    })
    response.end(JSON.stringify(said))
  }
}

eachStore((store) => {
  describe('after a whole gated run', () => {
    let desk: GatedApp
    let provider: FakeProvider
    const shown: SearchedTexts = new Map()
    const canaries = { ...CANARIES }
    const look = async (method: string, path: string, body?: unknown, key?: string) => {
      const answer = await desk.call(method, path, body, key ? { key } : {})
      const place = `${method} ${path} (${answer.status})`
      shown.set(place, JSON.stringify([answer.body, [...answer.headers]]))
      return answer.body
    }

    beforeAll(async () => {
      const payload = { text: 'hello' }
      provider = await startFakeProvider(
        ...[
          use('act', 'crm', { payload }),
          use('read', 'crm', { path: 'echo' }),
          use('read', 'crm', { path: 'broken' }),
          use('act', 'mail', { payload }),
          use('act', 'hook', { payload }),
          anthropicStream({ text: 'Done.', call: { name: 'finish', input: { output: { reply: 'done' } } } }),
        ].map((text) => ({ chunks: [text] })),
        // The next run has a provider that complains about the key, in full.
        { status: 401, json: { error: { type: 'authentication_error', message: `bad key ${ENV.ANTHROPIC_API_KEY}` } } },
      )
      const wedges = {
        ...gatedWedgeFiles('gate', { policy: { auto_approve: [{ action: 'mail' }, { action: 'hook' }] } }),
      }
      desk = await openGatedApp(store, wedges, { ...ENV, ANTHROPIC_BASE_URL: provider.url })
      echo(desk.outside)
      await setSecrets()
      await workThrough()
      await readEverything()
    })
    afterAll(async () => {
      await desk?.stop()
      await desk?.outside.close()
      await provider?.close()
    })

    async function setSecrets(): Promise<void> {
      for (const { id, name } of (await desk.call('GET', '/v1/connections')).body.data) {
        if (name === 'mail') await look('PUT', `/v1/connections/${id}`, { secret_ref: 'env:MAIL_TOKEN' })
        const value = CANARIES[name === 'crm' ? 'the vaulted secret' : 'the signing secret']
        if (name !== 'mail') await look('POST', `/v1/connections/${id}/secret`, { value })
        await look('POST', `/v1/connections/${id}/secret`, { value: [value] })
        await look('POST', `/v1/connections/${id}/test`)
        await look('GET', `/v1/connections/${id}`)
      }
    }

    async function workThrough(): Promise<void> {
      const task = await desk.createTask({ wedge: 'gate', task_type: 'act', input: {} })
      await desk.events(task.id, { until: ({ event }) => event === 'approval.requested' })
      const [open] = (await desk.call('GET', '/v1/approvals?status=pending')).body.data
      await look('POST', `/v1/approvals/${open.approval_id}/approve`, { edited: { text: 'hi' } })
      expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded', error: null })
      expect(desk.outside.received.filter(({ method }) => method === 'POST').length).toBeGreaterThanOrEqual(3)
      const refused = await desk.createTask({ wedge: 'gate', task_type: 'act', input: {} })
      expect(await desk.finished(refused.id)).toMatchObject({ status: 'failed', error: { reason: 'model_failed' } })
    }

    /** People with tokens of their own; what shows a token once is not looked at. */
    async function readEverything(): Promise<void> {
      const made = async (path: string, body: unknown, options = {}) =>
        (await desk.call('POST', path, body, options)).body
      const account = { email: 'owner@example.com', password: 'correct horse battery' }
      const session = (await made('/v1/auth/signup', account, { key: null })).session_token
      const key = (await made('/v1/keys', { name: 'second' })).key
      const client = await made('/v1/clients', { display_name: 'Ann' })
      const link = (await made(`/v1/clients/${client.id}/portal-link`, {})).token
      const portal = (await made('/v1/portal/session', { token: link }, { key: null })).session_token
      const own = { 'the session': session, 'the second key': key, 'the link': link, 'the portal session': portal }
      Object.assign(canaries, own)
      for (const text of Object.values(own)) expect(text).toMatch(/^svc_/)
      for (const path of readable()) await look('GET', path)
      for (const { id, artifacts } of (await look('GET', '/v1/tasks')).data) {
        shown.set(`events of ${id}`, JSON.stringify(await desk.events(id)))
        for (const path of ['', '/actions', '/trace']) await look('GET', `/v1/tasks/${id}${path}`)
        for (const artifact of artifacts) await look('GET', `/v1/artifacts/${artifact.id}`)
      }
      for (const path of ['me', 'threads', 'cases']) await look('GET', `/v1/portal/${path}`, undefined, portal)
      await look('GET', '/v1/tasks', undefined, portal)
      await look('GET', '/v1/portal/me', undefined, session)
      await look('POST', '/v1/portal/session', { token: link })
    }

    test('no answer of the service shows a secret', () => {
      expect(shown.size).toBeGreaterThan(40)
      expect(findLeaks(canaries, shown)).toEqual([])
    })

    test('no row and no byte on the disk shows one, but for its sealed envelope', async () => {
      const rows = await readRowTexts(desk.app)
      expect(rows.get('table vault')).toContain('\\"ct\\"')
      expect(findLeaks(canaries, rows)).toEqual([])
      const files = readFileTexts(join(desk.dir, 'data'))
      if (store === 'sqlite') expect([...files.keys()].some((path) => path.endsWith('svc.db'))).toBe(true)
      expect(findLeaks(canaries, files)).toEqual([])
    })

    test('the log of the service shows none', () => {
      expect(desk.logged.length).toBeGreaterThan(0)
      expect(findLeaks(canaries, new Map([['log', desk.logged.join('\n')]]))).toEqual([])
    })

    test('the model was told none, and got its key where it belongs', () => {
      expect(provider.seen.length).toBeGreaterThanOrEqual(7)
      const bodies = provider.seen.map(({ body }, i) => [`model request ${i}`, JSON.stringify(body)] as const)
      expect(findLeaks(canaries, new Map(bodies))).toEqual([])
      expect(bodies.some(([, text]) => text.includes('[secret]'))).toBe(true)
      for (const { headers } of provider.seen) expect(headers['x-api-key']).toBe(ENV.ANTHROPIC_API_KEY)
    })

    test('each secret went to its own upstream and to no other', () => {
      const { received } = desk.outside
      const bearers = (path: string) =>
        new Set(received.filter(({ url }) => url.startsWith(path)).map(({ headers }) => headers.authorization))
      expect(bearers('/crm')).toContain(`Bearer ${CANARIES['the vaulted secret']}`)
      expect(bearers('/mail')).toContain(`Bearer ${ENV.MAIL_TOKEN}`)
      expect([...bearers('/hook')]).toEqual([undefined])
      const others = received.filter(({ url }) => !url.startsWith('/crm'))
      const vaulted = { secret: CANARIES['the vaulted secret'] ?? '' }
      expect(findLeaks(vaulted, new Map([['others', JSON.stringify(others)]]))).toEqual([])
    })
  })

  test('an agent that tells all it can find tells no secret', async () => {
    const agentDir = mkdtempSync(join(tmpdir(), 'svc-spy-'))
    writeFiles(agentDir, SPY)
    const env = { ...ENV, SVC_AGENT_COMMAND: 'node spy.mjs', SVC_AGENT_DIR: agentDir, SVC_SANDBOX: 'auto' }
    const desk = await openGatedApp(store, gatedWedgeFiles('gate'), env)
    try {
      for (const { id, name } of (await desk.call('GET', '/v1/connections')).body.data) {
        if (name === 'mail') await desk.call('PUT', `/v1/connections/${id}`, { secret_ref: 'env:MAIL_TOKEN' })
        else await desk.call('POST', `/v1/connections/${id}/secret`, { value: CANARIES['the vaulted secret'] })
      }
      const task = await desk.createTask({ wedge: 'gate', task_type: 'act', input: {} })
      const ended = await desk.finished(task.id)
      expect(ended).toMatchObject({ status: 'succeeded', output: { brief: { v: 1 }, found: expect.any(Number) } })
      const places: SearchedTexts = new Map([['what the agent saw', JSON.stringify(ended)]])
      for (const { id, name } of ended.artifacts as { id: string; name: string }[]) {
        places.set(name, JSON.stringify((await desk.call('GET', `/v1/artifacts/${id}`)).body))
      }
      expect(findLeaks(CANARIES, places)).toEqual([])
    } finally {
      await desk.stop()
      await desk.outside.close()
      rmSync(agentDir, { recursive: true, force: true })
    }
  })
})

/** Reads that need no id, and those of the wedge; streams do not end by themselves. */
function readable(): string[] {
  const paths = Object.values(founderPlaneRoutes)
    .flat()
    .filter(({ method, responses }) => method === 'GET' && !isEventStream(responses[200]))
    .map(({ path }) => path.replace(':wedge', 'gate'))
  const open = ['/health', '/openapi.json', '/docs', '/v1/meta', '/v1/auth/session', '/v1/no-such-route']
  return [...paths.filter((path) => !path.includes(':')), ...open]
}

/** The brief, the environment, and every file that it can read where secrets could lie. */
const SPY = {
  'spy.mjs': `
    import { readdirSync, readFileSync, statSync } from 'node:fs'
    import { join } from 'node:path'
    let text = ''
    for await (const chunk of process.stdin) text += chunk
    const files = {}
    const look = (path, depth) => {
      try {
        if (depth < 0 || Object.keys(files).length > 500) return
        if (statSync(path).isDirectory()) for (const name of readdirSync(path)) look(join(path, name), depth - 1)
        else if (statSync(path).size < 100_000) files[path] = readFileSync(path, 'latin1')
      } catch {}
    }
    for (const place of [process.cwd(), process.env.HOME, '/agent', '/run', '/custom']) look(place, 3)
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
