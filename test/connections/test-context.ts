import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { afterEach } from 'vitest'
import { type Connection, insertConnection } from '../../src/connections/connection/rows.ts'
import { readSetting } from '../../src/platform/contract/settings.ts'
import { type Config, loadConfig } from '../../src/platform/config/config.ts'
import type { Ctx } from '../../src/platform/ctx/ctx.ts'
import { createMemoryState } from '../../src/platform/ctx/memory.ts'
import type { ProjectScope } from '../../src/platform/ctx/scope.ts'
import { createSystemWorld } from '../../src/platform/ctx/system-world.ts'
import { toIsoTime } from '../../src/platform/ctx/world.ts'
import { openStore } from '../../src/platform/store/open-store.ts'
import { createVault } from '../../src/identity/vault/vault.ts'
import { TestClock } from '../test-clock.ts'
import { type FakeUpstream, openFakeUpstream } from '../fake-upstream.ts'
import { createMigratedDatabase, releaseMigratedDatabase, type StoreKind } from '../stores.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp()
})

export interface TestContext {
  ctx: Ctx
  /** The service's environment; tests may change it. */
  env: Record<string, string | undefined>
  /** All log lines. */
  logged: string[]
  clock: TestClock
  scope: ProjectScope
}

/** The signal of a run that has not ended. */
export const ACTIVE_RUN = { aborted: false }

export const PROJECT = 'prj_1'

/** A context with an empty store, one project and a manual clock. */
export async function openTestContext({
  store = 'sqlite',
  env = {},
}: {
  store?: StoreKind
  env?: TestContext['env']
} = {}): Promise<TestContext> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-conn-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  const url = store === 'postgres' ? await createMigratedDatabase() : undefined
  if (url) cleanups.push(() => releaseMigratedDatabase(url))
  const config = loadConfig({
    SVC_DATA_DIR: folder,
    SVC_SQLITE_SYNC: 'normal',
    SVC_EGRESS_ALLOW: '127.0.0.1',
    DATABASE_URL: url,
    ...env,
  })
  const opened = await openStore(config, () => {})
  cleanups.push(() => opened.close())
  const { world, clock, logged, env: ownEnv } = worldWithTestClock(config, env)
  const ctx: Ctx = {
    config,
    store: opened,
    db: opened.db,
    world,
    ...createMemoryState(),
    wedges: { get: () => undefined, find: async () => undefined, all: () => [], problems: () => [] },
    vault: createVault(Buffer.alloc(32, 1)),
    replica: 'r1',
  }
  await opened.transact((db) =>
    db
      .insertInto('organisations')
      .values({ id: 'org_1', name: 'one', founding: 1, created_at: toIsoTime(clock.now()) })
      .execute(),
  )
  await opened.transact((db) =>
    db
      .insertInto('projects')
      .values({
        id: PROJECT,
        org_id: 'org_1',
        slug: 'one',
        name: 'one',
        tier: 'default',
        wedges: null,
        created_at: toIsoTime(clock.now()),
      })
      .execute(),
  )
  const scope: ProjectScope = {
    actor: { kind: 'key', id: 'key_1' },
    role: 'admin',
    orgId: 'org_1',
    projectIds: [PROJECT],
    projectId: PROJECT,
  }
  return { ctx, env: ownEnv, logged, clock, scope }
}

/** A world with a manual clock, an environment that tests can change and a log that they can read. */
export function worldWithTestClock(config: Config, env: TestContext['env'] = {}) {
  const logged: string[] = []
  const clock = new TestClock(Date.UTC(2026, 0, 2))
  const ownEnv = { ...env }
  const world = {
    ...createSystemWorld('silent'),
    clock,
    env: (name: string) => readSetting(ownEnv, name),
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
  }
  return { config, world, clock, logged, env: ownEnv }
}

/** Inserts a row directly, so that it may hold values that the API would refuse. */
export async function insertTestConnection(ctx: Ctx, fields: Partial<Connection>): Promise<Connection> {
  const connection: Connection = {
    id: ctx.world.newId('conn'),
    project_id: PROJECT,
    owner_kind: 'founder',
    owner_id: PROJECT,
    kind: 'custom',
    name: 'crm',
    config: {},
    secret_ref: null,
    pending_account: null,
    last_ok_at: null,
    last_error: null,
    last_error_at: null,
    created_at: toIsoTime(ctx.world.clock.now()),
    updated_at: toIsoTime(ctx.world.clock.now()),
    ...fields,
  }
  await ctx.store.transact((db) => insertConnection(db, connection))
  return connection
}

/** A fake upstream server that is closed after the test. */
export async function openUpstreamServer(respond: FakeUpstream['respond']): Promise<FakeUpstream> {
  const upstream = await openFakeUpstream()
  cleanups.push(() => upstream.close())
  return Object.assign(upstream, { respond })
}
