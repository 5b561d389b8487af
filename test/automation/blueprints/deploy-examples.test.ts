import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { anyStore, type TestApp, testApp } from '../../app.ts'
import { projectIdOf } from '../../customers/channels/channel-app.ts'
import { followChecklist, makeFixCall, openChecklistItems } from './follow-checklist.ts'

const folder = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
/** A blueprint cannot be activated without a model. */
const MODEL = { SVC_MODEL: 'openai/gpt-x', OPENAI_API_KEY: 'k' }
const EXAMPLES = { SVC_WEDGES_DIR: folder('wedges'), SVC_BLUEPRINTS_DIR: folder('blueprints'), ...MODEL }

interface Blueprint {
  wedge: string
  requires_connections: { name: string; config: object }[]
  schedules: { name: string }[]
  seed_knowledge: { name: string; content: string }[]
}

/** Sorted as in the list of the service. */
const SLUGS = readdirSync(EXAMPLES.SVC_BLUEPRINTS_DIR)
  .map((file) => file.replace(/\.json$/, ''))
  .toSorted()

const blueprintOf = (slug: string): Blueprint =>
  JSON.parse(readFileSync(join(EXAMPLES.SVC_BLUEPRINTS_DIR, `${slug}.json`), 'utf8'))

anyStore((store) => {
  test('all examples can be active in one project and share their mail connection', async () => {
    const app = await testApp({ store, env: EXAMPLES })
    for (const slug of SLUGS) {
      await followChecklist(app, slug)
      expect((await app.call('POST', `/v1/blueprints/${slug}/activate`)).status).toBe(200)
    }
    const active = SLUGS.map((blueprint) => ({ blueprint, installed: true, active: true }))
    expect(await listed(app, '/v1/blueprints')).toMatchObject(active)
    const names = (await listed(app, '/v1/connections')).map(({ name }) => String(name))
    expect(names.toSorted()).toEqual(['mail', 'reminders', 'stripe'])
  })

  test('two blueprints become ready if both checklists are read before any fix', async () => {
    const app = await testApp({ store, env: EXAMPLES })
    await app.call('PUT', `/v1/projects/${await projectIdOf(app)}`, { wedges: [] })
    const [one = '', other = ''] = SLUGS
    const read = [...(await openChecklistItems(app, one)), ...(await openChecklistItems(app, other))]
    for (const item of read.filter(({ kind }) => kind === 'wedge')) await makeFixCall(app, item)
    for (const slug of [one, other]) {
      const fixed = await followChecklist(app, slug)
      expect(fixed.filter(({ kind }) => kind === 'wedge')).toEqual([])
      expect((await app.call('GET', `/v1/blueprints/${slug}/readiness`)).body.ready).toBe(true)
    }
  })

  describe.each(SLUGS)('the example %s', (slug) => {
    const provision = (app: TestApp) => app.call('POST', `/v1/blueprints/${slug}/provision`)
    const activate = (app: TestApp) => app.call('POST', `/v1/blueprints/${slug}/activate`)

    test('the example can be activated after the requests of its checklist', async () => {
      const app = await testApp({ store, env: EXAMPLES })
      await app.call('PUT', `/v1/projects/${await projectIdOf(app)}`, { wedges: [] })
      expect((await provision(app)).status).toBe(200)
      expect((await activate(app)).status).toBe(409)
      // A fix can reveal new items, which the next checklist has.
      for (
        let open = await openChecklistItems(app, slug), read = 0;
        open.length > 0;
        open = await openChecklistItems(app, slug)
      ) {
        expect(read++, JSON.stringify(open)).toBeLessThan(5)
        for (const item of open) await makeFixCall(app, item)
      }
      expect((await app.call('GET', `/v1/blueprints/${slug}/readiness`)).body.ready).toBe(true)
      expect(await activate(app)).toMatchObject({ status: 200, body: { ok: true, active: true } })
      const active = (await listed(app, '/v1/blueprints')).filter((one) => one.active)
      expect(active).toMatchObject([{ blueprint: slug }])
      for (const schedule of await listed(app, '/v1/schedules'))
        expect(schedule).toMatchObject({ enabled: true, next_run_at: expect.any(String) })
    })

    test('provisioning creates everything that the example names, and repeating it changes nothing', async () => {
      const app = await testApp({ store, env: EXAMPLES })
      const { wedge, requires_connections, schedules, seed_knowledge } = blueprintOf(slug)
      const names = (parts: { name: string }[]) => parts.map(({ name }) => name)
      const all = {
        connections: names(requires_connections),
        schedules: names(schedules),
        knowledge: names(seed_knowledge),
      }
      const none = { connections: [], schedules: [], knowledge: [] }
      const first = await provision(app)
      expect(first.body).toMatchObject({ created: all, reused: none })
      const provisioned = await everything(app, wedge)
      expect(provisioned.connections).toHaveLength(requires_connections.length)
      for (const connection of provisioned.connections) expect(connection).toMatchObject({ has_secret: false })
      for (const schedule of provisioned.schedules)
        expect(schedule).toMatchObject({ enabled: false, next_run_at: null })
      await app.clock.advance(60_000)
      const again = await provision(app)
      expect(again).toMatchObject({ status: 200, body: { created: none, reused: all } })
      expect(again.body.readiness).toEqual(first.body.readiness)
      expect(await everything(app, wedge)).toEqual(provisioned)
    })
  })
})

const listed = async (app: TestApp, path: string): Promise<Record<string, unknown>[]> =>
  (await app.call('GET', path)).body.data

const everything = async (app: TestApp, wedge: string) => ({
  connections: await listed(app, '/v1/connections'),
  schedules: await listed(app, '/v1/schedules'),
  knowledge: await listed(app, `/v1/wedges/${wedge}/knowledge`),
})
