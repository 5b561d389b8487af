import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { afterEach, describe } from 'vitest'
import { authRoutes } from '../../src/accounts/auth-routes.ts'
import { scopeFor } from '../../src/accounts/authenticate.ts'
import { bootstrap } from '../../src/accounts/bootstrap.ts'
import * as accountRoutes from '../../src/accounts/routes.ts'
import { loadConfig } from '../../src/config/config.ts'
import { Bells } from '../../src/ctx/bells.ts'
import type { Ctx } from '../../src/ctx/ctx.ts'
import { LiveRuns } from '../../src/ctx/live.ts'
import type { Scope } from '../../src/ctx/scope.ts'
import { systemWorld } from '../../src/ctx/system.ts'
import { Tails } from '../../src/ctx/tails.ts'
import { bind, httpServer } from '../../src/http/server.ts'
import * as intakeRoutes from '../../src/knowledge/intake-routes.ts'
import * as knowledgeRoutes from '../../src/knowledge/routes.ts'
import { openStore } from '../../src/store/open.ts'
import { listWedges } from '../../src/wedges/routes.ts'
import { openShelf } from '../../src/wedges/shelf.ts'
import { createDatabase, dropDatabase } from '../postgres.ts'

type StoreKind = 'sqlite' | 'postgres'
export function eachStore(define: (store: StoreKind) => void) {
  describe.each(['sqlite', 'postgres'] as const)('%s', define)
}
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const e of ends.splice(0).toReversed()) await e()
})

export async function testApp({ store, env = {} }: { store: StoreKind; env?: Record<string, string> }) {
  const dir = await mkdtemp(join(tmpdir(), 'svc-kn-'))
  ends.push(() => rm(dir, { recursive: true, force: true }))
  const url = store === 'postgres' ? await createDatabase() : null
  if (url) ends.push(() => dropDatabase(url))
  const config = loadConfig({ SVC_DATA_DIR: dir, SVC_SQLITE_SYNC: 'normal', ...(url && { DATABASE_URL: url }), ...env })
  const opened = await openStore(config, () => {})
  ends.push(() => opened.close())
  const real = systemWorld('silent')
  let skew = 0
  const world = { ...real, log: pino({ level: 'warn' }), clock: { ...real.clock, now: () => Date.now() + skew } }
  const wedges = await openShelf(config.wedgesDir, pino({ level: 'silent' }))
  const ctx = {
    config,
    store: opened,
    db: opened.db,
    world,
    bells: new Bells(),
    tails: new Tails(),
    live: new LiveRuns(),
    wedges,
    replica: 'r',
  } as unknown as Ctx
  const { key } = await bootstrap(ctx)
  const app = httpServer(ctx)
  ends.push(() => app.close())
  for (const route of authRoutes) bind(app, ctx, route, async () => null)
  for (const routes of [accountRoutes, knowledgeRoutes, intakeRoutes, { listWedges }])
    for (const route of Object.values(routes))
      bind<Scope>(app, ctx, route, (request, route) => scopeFor(ctx, request, route))
  return {
    ctx,
    key: key ?? '',
    clock: {
      advance: async (ms: number) => {
        skew += ms
      },
    },
    async call(
      method: string,
      path: string,
      body?: unknown,
      { key: k = key, headers = {} }: { key?: string | null; headers?: Record<string, string> } = {},
    ) {
      const a = await app.inject({
        method: method as 'GET',
        url: path,
        headers: {
          ...(k && { authorization: `Bearer ${k}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      })
      return { status: a.statusCode, body: a.body ? JSON.parse(a.body) : null, headers: a.headers }
    },
  }
}
