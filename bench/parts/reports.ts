import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditRoutes } from '../../src/audit/routes.ts'
import { computeSeal } from '../../src/audit/seal.ts'
import { entryHash, GENESIS_HASH } from '../../src/platform/contract/audit/audit-chain.ts'
import { createId } from '../../src/platform/base/ids.ts'
import { loadConfig } from '../../src/platform/config/config.ts'
import { openVault } from '../../src/identity/vault/vault.ts'
import type { Ctx } from '../../src/platform/ctx/ctx.ts'
import { createMemoryState } from '../../src/platform/ctx/memory.ts'
import type { Scope } from '../../src/platform/ctx/scope.ts'
import { createRandomPool, createSystemWorld } from '../../src/platform/ctx/system-world.ts'
import type { HttpRequest } from '../../src/platform/http/http-request.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { reportRoutes } from '../../src/insight/analytics/routes.ts'
import { createBulkInsert } from '../../src/platform/store/dialect.ts'
import { openSqliteStore } from '../../src/platform/store/sqlite/sqlite-store.ts'
import { insertReportSums } from '../seed/report-sums.ts'
import { goalRow, type ResultRow } from '../results.ts'

/** Two calls that read much data: the report of a year and the verification of the audit log. On SQLite, without HTTP. */
export async function measureReports(): Promise<ResultRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const ctx = await openContext(dir)
  try {
    await insertProject(ctx)
    return [await measureAnalytics(ctx), await measureVerification(ctx)]
  } finally {
    await ctx.store.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

const TASKS = 1_000_000
const CLIENTS = 10_000
const ENTRIES = 300_000
const PROJECT = 'prj_bench'
const DAY = 24 * 60 * 60_000
const SCOPE: Scope = {
  actor: { kind: 'key', id: 'key_bench' },
  role: 'admin',
  orgId: 'org_bench',
  projectIds: [PROJECT],
}

async function openContext(dir: string): Promise<Ctx> {
  const store = await openSqliteStore(dir, 'normal')
  const world = createSystemWorld('silent')
  const wedges = { get: () => undefined, find: async () => undefined, all: () => [], problems: () => [] }
  const memory = { ...createMemoryState(), vault: openVault(world) }
  return { config: loadConfig({}, dir), store, db: store.db, world, wedges, ...memory, replica: 'bench' }
}

async function insertProject(ctx: Ctx): Promise<void> {
  const at = new Date().toISOString()
  await ctx.store.transact(async (db) => {
    await db
      .insertInto('organisations')
      .values({ id: SCOPE.orgId, name: 'bench', created_at: at, founding: 1 })
      .execute()
    const project = { id: PROJECT, org_id: SCOPE.orgId, slug: 'bench', name: 'bench', tier: 'default', wedges: null }
    await db
      .insertInto('projects')
      .values({ ...project, created_at: at })
      .execute()
  })
}

/**
 * A million finished tasks over a year, with the sums that the service keeps. Every client has tasks in every month and at
 * most one task a day, which gives the largest possible number of sums by client and day.
 */
async function measureAnalytics(ctx: Ctx): Promise<ResultRow> {
  const insert = createBulkInsert('tasks', [
    'id',
    'project_id',
    'wedge',
    'task_type',
    'status',
    'input',
    'actor',
    'constraints',
    'tools',
    'client_id',
    'cost_micros',
    'last_event_id',
    'epoch',
    'created_at',
    'started_at',
    'finished_at',
  ])
  const random = createRandomPool()
  const start = Date.now() - 360 * DAY
  const step = (355 * DAY) / TASKS
  const clients = range(0, CLIENTS).map(() => createId('cli', start, random))
  await transactInPages(ctx, TASKS, 10_000, (from, to) => (db) => {
    const rows = range(from, to).map((n) => {
      const ms = Math.floor(start + n * step)
      const at = new Date(ms).toISOString()
      const status = n % 10 === 0 ? 'failed' : 'succeeded'
      const id = createId('task', ms, random)
      const work = [id, PROJECT, `wedge-${n % 5}`, 'work', status, '{}', 'null', '{}', '[]']
      return [...work, clients[n % CLIENTS], n % 997, 5, 1, at, at, at]
    })
    return insert(db, rows)
  })
  await ctx.store.transact((db) => insertReportSums(db, { first: 'task_', last: 'task_~' }))
  const times = await measureTimes(7, () => callRoute(ctx, reportRoutes.getAnalytics, { days: 365 }))
  return goalRow(
    `analytics of a year, ${thousands(TASKS)} tasks of ${thousands(CLIENTS)} clients`,
    'ms',
    { service: times, bare: [] },
    { max: 500 },
  )
}

async function measureVerification(ctx: Ctx): Promise<ResultRow> {
  const insert = createBulkInsert('audit_entries', [
    'chain',
    'seq',
    'ts',
    'actor_kind',
    'actor_id',
    'action',
    'subject',
    'data',
    'prev_hash',
    'hash',
  ])
  let hash = GENESIS_HASH
  const actor = { kind: 'key' as const, id: 'key_bench' }
  const data = { wedge: 'refund-desk', task_type: 'handle_request' }
  await transactInPages(ctx, ENTRIES, 10_000, (from, to) => (db) => {
    const rows = range(from + 1, to + 1).map((seq) => {
      const entry = {
        seq,
        ts: new Date(seq * 1000).toISOString(),
        actor,
        action: 'task.created',
        subject: `task_${seq}`,
      }
      const prev_hash = hash
      hash = entryHash({ ...entry, data: JSON.stringify({ task_type: data.task_type, wedge: data.wedge }), prev_hash })
      const text = JSON.stringify({ task_type: data.task_type, wedge: data.wedge })
      return [PROJECT, seq, entry.ts, actor.kind, actor.id, entry.action, entry.subject, text, prev_hash, hash]
    })
    return insert(db, rows)
  })
  const head = { seq: ENTRIES, hash }
  const seal = computeSeal(ctx.vault, PROJECT, head, 1)
  await ctx.store.transact((db) =>
    db
      .insertInto('audit_heads')
      .values({ chain: PROJECT, ...head, seal })
      .execute(),
  )
  const times = await measureTimes(5, async () => {
    const verdict = await callRoute(ctx, auditRoutes.verifyAudit, {})
    if (!(verdict as { ok: boolean }).ok) throw new Error(`the chain does not verify: ${JSON.stringify(verdict)}`)
  })
  const rates = times.map((ms) => (ENTRIES / ms) * 1000)
  return goalRow('audit entries verified', 'entries/s', { service: rates, bare: [] }, { min: 200_000 })
}

/** Calls a route like the plane does, with a validated query. */
function callRoute(ctx: Ctx, route: Route<Scope>, query: object): Promise<unknown> {
  // The handlers of these routes use only the query.
  const request = { headers: {} } as HttpRequest
  return route.run({ ctx, scope: SCOPE, params: {}, request, validate: () => ({ query, body: undefined }) })
}

async function measureTimes(rounds: number, work: () => Promise<unknown>): Promise<number[]> {
  await work()
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times
}

type Write = (db: Ctx['db']) => Promise<void>

async function transactInPages(
  ctx: Ctx,
  all: number,
  size: number,
  page: (from: number, to: number) => Write,
): Promise<void> {
  for (let from = 0; from < all; from += size) await ctx.store.transact(page(from, Math.min(all, from + size)))
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const thousands = (n: number) => n.toLocaleString('en-US')
