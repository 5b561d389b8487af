import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bootstrapOrganisation } from '../../../src/identity/authentication/bootstrap.ts'
import { startApp } from '../../../src/server/app.ts'
import type { Ctx } from '../../../src/platform/ctx/ctx.ts'
import { openStore } from '../../../src/platform/store/open-store.ts'
import { eachStore, testApp } from '../../app.ts'
import { createDatabase, dropDatabase } from '../../postgres.ts'
import { auditActions } from './members.ts'

const CONFIGURED_KEY = 'svc_key_fixed-by-the-deployment-0123456789'

eachStore((store) => {
  test('the first start creates an organisation, a project and an API key; later starts create nothing', async () => {
    const app = await testApp({ store, env: { SVC_FOUNDER_API_KEY: '' } })
    const shownKey = app.firstKey
    expect(shownKey).toMatch(/^svc_key_[\w-]{43}$/)
    const { organisation, projects, key } = (await app.call('GET', '/v1/auth/session', undefined, { key: shownKey }))
      .body
    expect(projects).toMatchObject([{ slug: 'default', tier: 'default', wedges: null }])
    expect(key.role).toBe('admin')
    expect(await bootstrapOrganisation(app.ctx)).toEqual({ key: null })
    expect((await app.call('GET', '/v1/keys', undefined, { key: shownKey })).body.data).toHaveLength(1)
    expect(await auditActions(app, organisation.id)).toEqual(['organisation.created'])
    expect(await auditActions(app, projects[0].id)).toEqual(['key.created'])
  })

  test('SVC_FOUNDER_API_KEY works for the first project after every start and is never shown', async () => {
    const app = await testApp({ store })
    const configured: Ctx = { ...app.ctx, config: { ...app.ctx.config, founderApiKey: CONFIGURED_KEY } }
    for (let start = 0; start < 2; start++) {
      expect(await bootstrapOrganisation(configured)).toEqual({ key: null })
      expect((await app.call('GET', '/v1/keys', undefined, { key: CONFIGURED_KEY })).body.data).toHaveLength(2)
    }
    const { id } = (await app.call('GET', '/v1/auth/session', undefined, { key: CONFIGURED_KEY })).body.key
    await app.call('DELETE', `/v1/keys/${id}`)
    expect((await app.call('GET', '/v1/keys', undefined, { key: CONFIGURED_KEY })).status).toBe(401)
    await bootstrapOrganisation(configured)
    expect((await app.call('GET', '/v1/keys', undefined, { key: CONFIGURED_KEY })).status).toBe(200)
  })
})

test('a start on a port in use creates nothing, so that the next start shows the key', async () => {
  const app = await testApp({ store: 'sqlite' })
  const config = { ...app.ctx.config, dataDir: join(app.dir, 'fresh'), port: Number(new URL(app.url).port) }
  await expect(startApp(config, app.ctx.world)).rejects.toThrow('EADDRINUSE')
  expect(existsSync(join(config.dataDir, 'svc.db'))).toBe(false)
})

describe('replicas that start together on an empty PostgreSQL', () => {
  test('replicas that start together create one organisation, and one of them returns the key', async () => {
    const replicas = await replicasOn(await emptyDatabase())
    const keys = (await Promise.all(replicas.map(bootstrapOrganisation))).map(({ key }) => key)
    expect(keys.filter((key) => key !== null)).toHaveLength(1)
    const db = replicas[0]?.db
    expect(await db?.selectFrom('organisations').selectAll().execute()).toHaveLength(1)
    expect(await db?.selectFrom('projects').selectAll().execute()).toHaveLength(1)
    expect(await db?.selectFrom('keys').selectAll().execute()).toHaveLength(1)
  })

  test('replicas that start together store SVC_FOUNDER_API_KEY once', async () => {
    const replicas = await replicasOn(await emptyDatabase(), CONFIGURED_KEY)
    expect(await Promise.all(replicas.map(bootstrapOrganisation))).toEqual(replicas.map(() => ({ key: null })))
    expect(await replicas[0]?.db.selectFrom('keys').selectAll().execute()).toHaveLength(1)
  })
})

async function emptyDatabase(): Promise<string> {
  const url = await createDatabase()
  onTestFinished(() => dropDatabase(url))
  return url
}

/** The contexts of five replicas, each with its own connections. */
async function replicasOn(databaseUrl: string, founderApiKey: string | null = null): Promise<Ctx[]> {
  const { ctx } = await testApp({ store: 'sqlite' })
  const config = { ...ctx.config, databaseUrl, founderApiKey }
  const stores = await Promise.all([1, 2, 3, 4, 5].map(() => openStore(config, () => {})))
  onTestFinished(() => Promise.all(stores.map((store) => store.close())).then(() => {}))
  return stores.map((store) => ({ ...ctx, config, store, db: store.db }))
}
