import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { afterEach } from 'vitest'
import { insertConnection } from '../../src/connections/rows.ts'
import type { Connection } from '../../src/connections/rows.ts'
import { vaultWith } from '../../src/connections/vault.ts'
import { settingOf } from '../../src/base/settings.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import type { Ctx } from '../../src/ctx/ctx.ts'
import { newMemory } from '../../src/ctx/memory.ts'
import type { ProjectScope } from '../../src/ctx/scope.ts'
import { systemWorld } from '../../src/ctx/system.ts'
import { isoTime } from '../../src/ctx/world.ts'
import { openStore } from '../../src/store/open.ts'
import { TestClock } from '../clock.ts'
import { type Outside, openOutside } from '../outside.ts'
import { dropDatabase } from '../postgres.ts'
import { migratedDatabase, type StoreKind } from '../stores.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

export interface Place {
  ctx: Ctx
  /** The service's environment; tests may change it. */
  env: Record<string, string | undefined>
  /** Every line that was logged. */
  logged: string[]
  clock: TestClock
  scope: ProjectScope
}

/** Of a run that goes on. */
export const GOING_ON = { aborted: false }

export const PROJECT = 'prj_1'

/** A context over a fresh store with a clock that moves by hand. */
export async function place({
  store = 'sqlite',
  env = {},
}: {
  store?: StoreKind
  env?: Place['env']
} = {}): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-conn-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  const url = store === 'postgres' ? await migratedDatabase() : undefined
  if (url) ends.push(() => dropDatabase(url))
  const config = loadConfig({
    SVC_DATA_DIR: folder,
    SVC_SQLITE_SYNC: 'normal',
    SVC_EGRESS_ALLOW: '127.0.0.1',
    DATABASE_URL: url,
    ...env,
  })
  const opened = await openStore(config, () => {})
  ends.push(() => opened.close())
  const { world, clock, logged, env: own } = outside(config, env)
  const ctx: Ctx = {
    config,
    store: opened,
    db: opened.db,
    world,
    ...newMemory(),
    wedges: { get: () => undefined, find: async () => undefined, all: () => [], problems: () => [] },
    vault: vaultWith(Buffer.alloc(32, 1)),
    replica: 'r1',
  }
  await opened.transact((db) =>
    db
      .insertInto('organisations')
      .values({ id: 'org_1', name: 'one', founding: 1, created_at: isoTime(clock.now()) })
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
        created_at: isoTime(clock.now()),
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
  return { ctx, env: own, logged, clock, scope }
}

/** What is not in rows: time by hand, an environment and a log that tests can look at. */
export function outside(config: Config, env: Place['env'] = {}) {
  const logged: string[] = []
  const clock = new TestClock(Date.UTC(2026, 0, 2))
  const own = { ...env }
  const world = {
    ...systemWorld('silent'),
    clock,
    env: (name: string) => settingOf(own, name),
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
  }
  return { config, world, clock, logged, env: own }
}

/** A row as it may stand in the store, without the way through the API. */
export async function givenConnection(ctx: Ctx, some: Partial<Connection>): Promise<Connection> {
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
    created_at: isoTime(ctx.world.clock.now()),
    updated_at: isoTime(ctx.world.clock.now()),
    ...some,
  }
  await ctx.store.transact((db) => insertConnection(db, connection))
  return connection
}

/** Closed after the test. */
export async function upstream(answer: Outside['answer']): Promise<Outside> {
  const outside = await openOutside()
  ends.push(() => outside.close())
  return Object.assign(outside, { answer })
}
