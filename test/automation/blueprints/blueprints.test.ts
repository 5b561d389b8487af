import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { logBlueprintProblems } from '../../../src/automation/blueprints/read-blueprints.ts'
import { ECHO_WEDGE, anyStore, eachStore, type TestApp, testApp, writeFiles } from '../../app.ts'
import type { StoreKind } from '../../stores.ts'
import { followChecklist, makeFixCall, openChecklistItems } from './follow-checklist.ts'

const DESK = {
  blueprint: 'desk',
  title: 'Desk',
  summary: 'Repeats a text.',
  sells_as: 'Repeated texts.',
  wedge: 'echo',
  requires_connections: [
    { name: 'mail', kind: 'email' },
    { name: 'hook', kind: 'webhook', config: { url: 'https://hooks.example.com/in' } },
  ],
  schedules: [
    { name: 'round', task_type: 'say', cadence: { kind: 'daily', hour: 8, minute: 30 }, input: { text: 'hi' } },
  ],
  seed_knowledge: [{ name: 'facts', content: 'All is well.' }],
}

/** A blueprint cannot be activated without a model. */
const MODEL = { SVC_MODEL: 'openai/gpt-x', OPENAI_API_KEY: 'k' }

async function appWith(
  store: StoreKind,
  blueprints: Record<string, unknown>,
  env: Record<string, string> = {},
): Promise<TestApp> {
  const app = await testApp({ store, env: { ...MODEL, ...env } })
  writeFiles(join(app.dir, 'blueprints'), blueprints)
  return app
}

const appWithDesk = (store: StoreKind, env?: Record<string, string>) => appWith(store, { 'desk.json': DESK }, env)

anyStore((store) => {
  describe('the list of blueprints', () => {
    test('the list has the texts of each blueprint, whether it is installed, and the invalid files', async () => {
      const app = await appWith(store, {
        'desk.json': DESK,
        'other.json': DESK,
        'bad.json': '{',
        'twice.json': { ...DESK, blueprint: 'twice', schedules: [...DESK.schedules, ...DESK.schedules] },
        'odd.json': { ...DESK, blueprint: 'odd', requires_connections: [{ name: 'mail', kind: 'pigeon' }] },
        'notes.txt': 'nothing',
      })
      const { body } = await app.call('GET', '/v1/blueprints')
      expect(body.data).toEqual([
        {
          blueprint: 'desk',
          title: 'Desk',
          summary: 'Repeats a text.',
          sells_as: 'Repeated texts.',
          wedge: 'echo',
          installed: false,
          active: false,
        },
      ])
      expect(body.next_cursor).toBeNull()
      expect(body.problems).toEqual([
        { blueprint: 'bad', problem: expect.stringContaining('malformed json') },
        {
          blueprint: 'odd',
          problem: 'requires_connections.0.kind must be one of email, webhook, custom, broker, mcp',
        },
        { blueprint: 'other', problem: "field 'blueprint' is 'desk' but the file is 'other.json'" },
        { blueprint: 'twice', problem: expect.stringMatching(/^the name '.+' is used twice$/) },
      ])
      await logBlueprintProblems(app.ctx)
      expect(app.logged.filter((line) => line.includes("blueprint 'other'"))).toHaveLength(1)
    })

    test('the list has pages', async () => {
      const app = await appWith(store, { 'a.json': { ...DESK, blueprint: 'a' }, 'b.json': { ...DESK, blueprint: 'b' } })
      const first = await app.call('GET', '/v1/blueprints?limit=1')
      expect(first.body).toMatchObject({ data: [{ blueprint: 'a' }], next_cursor: 'a' })
      const second = await app.call('GET', '/v1/blueprints?limit=1&cursor=a')
      expect(second.body).toMatchObject({ data: [{ blueprint: 'b' }], next_cursor: null })
    })
  })

  describe('the model in the readiness', () => {
    const warnings = async (app: TestApp) => (await app.call('GET', '/v1/blueprints/desk/readiness')).body.warnings
    const types = { asked: {}, decided: { harness: { shape: 'decide' } }, counted: { harness: { shape: 'workflow' } } }
    const wedges = {
      ...ECHO_WEDGE,
      'mixed/wedge.json': { wedge: 'mixed', task_types: types, workflows: [{ name: 'counted' }] },
      'mixed/workflows/counted.mjs': 'export default () => ({})',
      'mixed/rehearsals/asked.json': [{ output: {} }],
      'code/wedge.json': {
        wedge: 'code',
        task_types: { counted: types.counted },
        workflows: [{ name: 'counted' }],
      },
      'code/workflows/counted.mjs': 'export default () => ({})',
    }
    const appFor = async (wedge: string, env: Record<string, string> = {}) => {
      const app = await testApp({ store, wedges, env })
      writeFiles(join(app.dir, 'blueprints'), { 'desk.json': { ...DESK, wedge, schedules: [] } })
      return app
    }

    test('readiness warns if the key of the model provider is missing', async () => {
      const env = { SVC_MODEL: 'anthropic/claude-x' }
      expect(await warnings(await appFor('echo', env))).toEqual([
        'ANTHROPIC_API_KEY is not set: anthropic will refuse every call of its models',
      ])
      expect(await warnings(await appFor('echo', { ...env, ANTHROPIC_API_KEY: 'k' }))).toEqual([])
    })

    test('a blueprint is not activated without a model, unless it needs none', async () => {
      const app = await appFor('mixed')
      const fixable = (await openChecklistItems(app, 'desk')).filter(({ fix }) => fix)
      expect(fixable).not.toEqual([])
      for (let item = fixable[0]; item; item = (await openChecklistItems(app, 'desk')).find(({ fix }) => fix)) {
        await makeFixCall(app, item)
      }
      const refused = await app.call('POST', '/v1/blueprints/desk/activate')
      const detail = 'no model is set, so its tasks would play recorded runs: set SVC_MODEL and restart the service'
      expect(refused).toMatchObject({
        status: 409,
        body: { missing: [{ item: 'model', kind: 'model', ok: false, detail, fix: null }] },
      })
      for (const wedge of ['code', 'absent']) {
        const items = await openChecklistItems(await appFor(wedge), 'desk')
        expect(items.map(({ kind }) => kind)).not.toContain('model')
      }
      const ready = (await (await appFor('mixed', MODEL)).call('GET', '/v1/blueprints/desk/readiness')).body.items
      expect(ready.at(-1)).toMatchObject({ kind: 'model', ok: true, detail: 'the model is openai/gpt-x' })
    })

    test('a warning does not prevent the activation', async () => {
      const app = await appFor('echo', { SVC_MODEL: 'openai/gpt-x' })
      await followChecklist(app, 'desk')
      const { body } = await app.call('GET', '/v1/blueprints/desk/readiness')
      expect(body).toMatchObject({ ready: true, warnings: [expect.stringMatching(/^OPENAI_API_KEY is not set/)] })
      expect((await app.call('POST', '/v1/blueprints/desk/activate')).status).toBe(200)
    })
  })

  test.each([
    ['POST', 'provision'],
    ['GET', 'readiness'],
    ['POST', 'activate'],
  ])('%s …/%s of an unknown or invalid blueprint returns 404', async (method, path) => {
    const app = await appWith(store, { 'bad.json': '{' })
    for (const slug of ['none', 'bad', '..%2fdesk', 'Desk']) {
      const response = await app.call(method, `/v1/blueprints/${slug}/${path}`)
      expect(response).toMatchObject({ status: 404, body: { error: 'no such blueprint' } })
    }
  })

  describe('provisioning', () => {
    test('provisioning creates connections without secrets, disabled schedules and knowledge, once', async () => {
      const app = await appWithDesk(store)
      const first = await app.call('POST', '/v1/blueprints/desk/provision')
      expect(first.status).toBe(200)
      expect(first.body).toMatchObject({
        blueprint: 'desk',
        created: { connections: ['mail', 'hook'], schedules: ['round'], knowledge: ['facts'] },
        reused: { connections: [], schedules: [], knowledge: [] },
        readiness: { ready: false },
      })
      const schedules = (await app.call('GET', '/v1/schedules')).body.data
      expect(schedules).toMatchObject([{ name: 'round', enabled: false, next_run_at: null, input: { text: 'hi' } }])
      const [item] = (await app.call('GET', '/v1/wedges/echo/knowledge')).body.data
      expect(item).toMatchObject({ name: 'facts', content: 'All is well.', kind: 'seed' })
      await app.call('PUT', `/v1/knowledge/${item.id}`, { content: 'Changed.' })
      const again = await app.call('POST', '/v1/blueprints/desk/provision')
      expect(again.body).toMatchObject({
        created: { connections: [], schedules: [], knowledge: [] },
        reused: { connections: ['mail', 'hook'], schedules: ['round'], knowledge: ['facts'] },
      })
      const knowledge = (await app.call('GET', '/v1/wedges/echo/knowledge')).body.data
      expect(knowledge).toMatchObject([{ content: 'Changed.' }])
      expect((await app.call('GET', '/v1/blueprints')).body.data[0]).toMatchObject({ installed: true, active: false })
    })
  })

  describe('readiness', () => {
    test('a blueprint becomes ready after the requests of its checklist', async () => {
      const app = await appWithDesk(store)
      const { body: project } = await app.call('GET', '/v1/projects')
      await app.call('PUT', `/v1/projects/${project.data[0].id}`, { wedges: [] })
      const fixed = await followChecklist(app, 'desk')
      expect(fixed.map(({ kind }) => kind)).toEqual(['wedge', 'provision', 'config', 'secret'])
      expect((await app.call('POST', '/v1/blueprints/desk/activate')).body).toEqual({ ok: true, active: true })
    })

    test('a connection of another kind must be renamed and is never deleted', async () => {
      const app = await appWithDesk(store)
      const other = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'mail' })
      const fixed = await followChecklist(app, 'desk')
      expect(fixed.map(({ kind }) => kind)).toContain('connection')
      expect((await app.call('GET', `/v1/connections/${other.body.id}`)).body.name).toBe('another name')
    })

    test('the fix of a mail server without an address names everything that is missing', async () => {
      const app = await appWithDesk(store)
      await app.call('POST', '/v1/connections', { kind: 'email', name: 'mail', config: { provider: 'smtp' } })
      const items = await openChecklistItems(app, 'desk')
      expect(items.find(({ kind }) => kind === 'config')).toMatchObject({
        detail: "config.from and config.host of connection 'mail' are missing",
        fix: { body: { config: { provider: 'smtp', from: '<from>', host: '<host>' } } },
      })
    })

    test('the fix of a missing environment secret is to use the vault', async () => {
      const app = await appWithDesk(store)
      const mail = { kind: 'email', name: 'mail', config: { api_url: 'https://mail.example.com' } }
      await app.call('POST', '/v1/connections', { ...mail, secret_ref: 'env:MAIL_TOKEN' })
      const fixed = await followChecklist(app, 'desk')
      expect(fixed.map(({ fix }) => fix?.body)).toEqual([{}, { secret_ref: null }, { value: '<secret>' }])
    })

    test('a broker connection needs its authorisation, then a check of its status', async () => {
      const requires_connections = [{ name: 'crm', kind: 'broker', config: { toolkit: 'hubspot' } }]
      const app = await appWith(
        store,
        { 'desk.json': { ...DESK, requires_connections } },
        { BROKER_API_KEY: 'broker-k3y' },
      )
      await app.call('POST', '/v1/blueprints/desk/provision')
      const [crm] = (await app.call('GET', '/v1/connections')).body.data
      expect((await openChecklistItems(app, 'desk'))[0]?.fix).toEqual({
        method: 'POST',
        path: `/v1/connections/${crm.id}/broker/connect`,
        body: {},
      })
      const rows = app.ctx.db.updateTable('connections').where('id', '=', crm.id)
      await rows.set({ pending_account: 'ca_1' }).execute()
      expect((await openChecklistItems(app, 'desk'))[0]?.fix).toMatchObject({ method: 'GET' })
      await rows.set({ config: JSON.stringify({ ...crm.config, connected_account_id: 'ca_1' }) }).execute()
      expect((await app.call('GET', '/v1/blueprints/desk/readiness')).body.ready).toBe(true)
    })

    test('an item that no request can fix has no fix', async () => {
      const app = await appWith(store, { 'desk.json': { ...DESK, wedge: 'nowhere', schedules: [] } })
      const [wedge] = await openChecklistItems(app, 'desk')
      expect(wedge).toMatchObject({ item: 'nowhere', kind: 'wedge', ok: false, fix: null })
      const requires_connections = [{ name: 'crm', kind: 'broker', config: { toolkit: 'hubspot' } }]
      const keyless = await appWith(store, { 'desk.json': { ...DESK, requires_connections } })
      await keyless.call('POST', '/v1/blueprints/desk/provision')
      const detail = "connection 'crm' cannot be authorised: set BROKER_API_KEY"
      const authorisation = { item: 'crm', kind: 'authorisation', ok: false, detail, fix: null }
      expect(await openChecklistItems(keyless, 'desk')).toEqual([authorisation])
      await keyless.ctx.db.updateTable('connections').set({ pending_account: 'ca_1' }).execute()
      expect(await openChecklistItems(keyless, 'desk')).toEqual([authorisation])
    })
  })

  describe('activation', () => {
    test('the activation of an unready blueprint returns 409 with the missing items and changes nothing', async () => {
      const app = await appWithDesk(store)
      await app.call('POST', '/v1/blueprints/desk/provision')
      const { status, body } = await app.call('POST', '/v1/blueprints/desk/activate')
      expect(status).toBe(409)
      expect(body).toEqual({ error: 'blueprint is not ready', missing: await openChecklistItems(app, 'desk') })
      expect((await app.call('GET', '/v1/schedules')).body.data[0].enabled).toBe(false)
    })

    test('the activation enables the schedules, can be repeated and is in the audit log', async () => {
      const app = await appWithDesk(store)
      await followChecklist(app, 'desk')
      for (const _ of [1, 2]) {
        const response = await app.call('POST', '/v1/blueprints/desk/activate')
        expect(response).toMatchObject({ status: 200, body: { ok: true, active: true } })
      }
      const [schedule] = (await app.call('GET', '/v1/schedules')).body.data
      expect(schedule).toMatchObject({ enabled: true, next_run_at: '2026-03-03T08:30:00.000Z' })
      expect((await app.call('GET', '/v1/blueprints')).body.data[0]).toMatchObject({ installed: true, active: true })
      const activated = await app.call('GET', '/v1/audit?action=blueprint.activated&subject=desk')
      expect(activated.body.data).toHaveLength(2)
    })
  })
})

eachStore((store) => {
  describe('provisioning', () => {
    test('concurrent provisioning creates everything once', async () => {
      const app = await appWithDesk(store)
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => app.call('POST', '/v1/blueprints/desk/provision')),
      )
      expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
      expect((await app.call('GET', '/v1/connections')).body.data).toHaveLength(2)
      expect((await app.call('GET', '/v1/schedules')).body.data).toHaveLength(1)
      expect((await app.call('GET', '/v1/wedges/echo/knowledge')).body.data).toHaveLength(1)
    })

    test('two blueprints with the same names share what is created, even if provisioned concurrently', async () => {
      const app = await appWith(store, { 'a.json': { ...DESK, blueprint: 'a' }, 'b.json': { ...DESK, blueprint: 'b' } })
      const responses = await Promise.all(
        ['a', 'b'].map((slug) => app.call('POST', `/v1/blueprints/${slug}/provision`)),
      )
      expect(responses.map(({ status }) => status)).toEqual([200, 200])
      const counts = responses.map(({ body }) => Object.values(body.created).flat().length)
      expect(counts.toSorted((a, b) => a - b)).toEqual([0, 4])
      expect((await app.call('GET', '/v1/schedules')).body.data).toHaveLength(1)
      expect((await app.call('GET', '/v1/wedges/echo/knowledge')).body.data).toHaveLength(1)
    })
  })
})
