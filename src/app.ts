import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './accounts/bootstrap.ts'
import { sweepAccounts } from './accounts/sweep.ts'
import { dropCounters } from './approvals/counter-rows.ts'
import { expireDue } from './approvals/settle.ts'
import { checkpointDue } from './audit/checkpoint.ts'
import { logBlueprintProblems } from './blueprints/folder.ts'
import { sweepPortal } from './clients/portal-session.ts'
import type { Config } from './config/config.ts'
import { reachOf } from './connections/addresses.ts'
import { warnOfLostSecrets } from './connections/secrets.ts'
import { openVault } from './connections/vault.ts'
import { type Ctx, inTx } from './ctx/ctx.ts'
import { every, type Loop } from './ctx/loop.ts'
import { newMemory } from './ctx/memory.ts'
import { isoTime, type World } from './ctx/world.ts'
import { catchUp, catchUpAll } from './events/follow.ts'
import { requireFreePort } from './http/free-port.ts'
import { LOOK_AGAIN } from './http/until.ts'
import { warnOfMissingKeys } from './models/keys.ts'
import { openSandboxPlane, type SandboxPlane } from './planes/sandbox.ts'
import { servePublicPlanes } from './planes/public.ts'
import { VERSION } from './planes/version.ts'
import { foldReports } from './reports/fold.ts'
import { BEAT_MS, endLeftOvers, endLostRuns, endRunsWithoutLease, openLease, renewLease } from './runs/leases.ts'
import { dropReplicasBefore } from './runs/rows.ts'
import { Runner } from './runs/runner.ts'
import { Strays } from './runs/strays.ts'
import { Watch } from './runs/watch.ts'
import type { Driver } from './sandbox/driver.ts'
import { pickDriver } from './sandbox/pick.ts'
import { fireDueSchedules } from './schedules/fire.ts'
import { recallDueTimes } from './schedules/recall.ts'
import { StoreAway } from './store/away.ts'
import { openStore } from './store/open.ts'
import { dropKeysBefore } from './tasks/admission-rows.ts'
import { pruneOldLogs } from './tasks/retention.ts'
import { openMetricsDoor, refuseOpenMetrics } from './telemetry/metrics-door.ts'
import { traceExport } from './telemetry/trace-export.ts'
import { deliveries } from './webhooks/deliver.ts'
import { dropDeliveriesBefore } from './webhooks/delivery-rows.ts'
import { openShelf } from './wedges/shelf.ts'
import { WorkflowCells } from './workflows/cells.ts'

/** One replica: its doors, its runner and its sweepers over one store. */
export interface App {
  ctx: Ctx
  driver: Driver
  /** Where it listens. */
  url: string
  /** Where Prometheus looks, if anywhere. */
  metricsUrl: string | null
  stop(): Promise<void>
}

/**
 * The doors open before the sandbox is tried: what comes meanwhile waits in the queue. `tellKey` hears the founder key on
 * the very first start and never again; at once, because the rest of the start may fail and the key is made by then.
 */
export async function startApp(config: Config, world: World, tellKey: (key: string) => void = () => {}): Promise<App> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  // A list that cannot be read must not be found out by the first action.
  reachOf(config.egressAllow)
  refuseOpenMetrics(config, world)
  await requireFreePort(config)
  const picking = pickDriver(config.sandbox, (line, level) => world.log[level](line), [config.dataDir])
  // Whoever awaits it hears of a failure; until then it is not left alone.
  picking.catch(() => {})
  const ctx = await openContext(config, world)
  const { key } = await bootstrap(ctx)
  if (key) tellKey(key)
  warnOfMissingKeys(ctx)
  await warnOfLostSecrets(ctx)
  await clearLeftOvers(ctx)
  let draining = false
  const http = servePublicPlanes(ctx, picking, () => draining)
  const url = await http.listen({ host: config.host, port: config.port })
  const { driver, loops, metrics, close } = await startWork(ctx, picking).catch(async (error) => {
    await http.close()
    await ctx.store.close()
    throw error
  })
  return {
    ctx,
    driver,
    url,
    metricsUrl: metrics?.url ?? null,
    async stop() {
      draining = true
      await close(() => http.close())
      await metrics?.close()
      await Promise.all(loops.map((loop) => loop.stop()))
      ctx.wedges.stop()
      await ctx.store.close()
    },
  }
}

/** What goes on behind the doors: the runner with its cells, and the sweepers. */
async function startWork(ctx: Ctx, picking: Promise<Driver>) {
  const driver = await picking
  const workflows = new WorkflowCells(ctx, driver, agentDir())
  let plane: SandboxPlane
  const runner = new Runner(ctx, driver, agentDir(), {
    http: (request, response) => plane.http.routing(request, response),
    lines: (...question) => plane.lines(...question),
  })
  plane = openSandboxPlane(ctx, runner, workflows)
  await plane.http.ready()
  await logBlueprintProblems(ctx)
  const metrics = await openMetricsDoor(ctx, {
    version: VERSION,
    sandbox: driver.kind,
    cells: () => runner.pool.census(),
    workflowProcesses: () => workflows.processes,
  })
  const loops = [...sweepers(ctx, runner), runner]
  for (const loop of loops) loop.start()
  return {
    driver,
    loops,
    metrics,
    /** Runs end first, while their followers can still be told; then the doors, then what served the agents. */
    close: async (closeDoors: () => Promise<unknown>) => {
      await runner.stop()
      await closeDoors()
      await plane.http.close()
      await workflows.close()
    },
  }
}

async function openContext(config: Config, world: World) {
  const store = await openStore(config, (message, err) => world.log.warn({ err }, message))
  if (store.now) world.clock.follow?.(store.now)
  const wedges = await openShelf(config.wedgesDir, world.log)
  const ctx = {
    config,
    store,
    db: store.db,
    world,
    ...newMemory(),
    wedges,
    vault: openVault(world),
    replica: `rep_${Buffer.from(world.random(9)).toString('base64url')}`,
  }
  store.hear((topic) => {
    if (!topic.startsWith('log:')) return ctx.bells.ring(topic)
    // The poll finds what could not be read now.
    catchUp(ctx, topic.slice(4)).catch((err) => world.log.warn({ err }, 'followers not told'))
  })
  wedges.start()
  return ctx
}

/** With SQLite nobody else can be running; with PostgreSQL the leases of others tell. */
async function clearLeftOvers(ctx: Ctx): Promise<void> {
  if (ctx.store.kind === 'sqlite') await endLeftOvers(ctx)
}

const SWEEP_MS = 1_000
/** Half of the shortest cadence: with a look for each of its slots, one of them would be skipped now and then. */
const DUE_MS = 500
const FOLLOW_MS = 400
const FOLD_MS = 60_000
const RECALL_MS = 30_000
const LOOK_AGAIN_MS = 30_000
const TIDY_MS = 10 * 60_000
const DAY_MS = 24 * 60 * 60_000

/** What every replica does again and again; all of it is safe to do together. */
function sweepers(ctx: Ctx, runner: Runner): Loop[] {
  const { clock, log } = ctx.world
  const lease = openLease(ctx)
  const watch = new Watch()
  const strays = new Strays(ctx, () => runner.carried())
  const brokenChains = new Map<string, string>()
  const { retentionDays } = ctx.config
  const sweep = (name: string, ms: number, work: (stopping: AbortSignal) => Promise<unknown>) =>
    // That the store is away is told once, and not by everyone who notices.
    every(clock, ms, work, (err) => err instanceof StoreAway || log.error({ err }, `${name} failed`))
  return [
    sweep('lease', BEAT_MS, (stopping) => renewLease(ctx, lease, stopping)),
    sweep('lost lease', SWEEP_MS, async () => endRunsWithoutLease(ctx, lease)),
    sweep('lost runs', BEAT_MS, () => endLostRuns(ctx, watch)),
    sweep('strays', BEAT_MS, () => strays.end()),
    sweep('expiry', SWEEP_MS, () => expireDue(ctx)),
    sweep('schedules', DUE_MS, () => fireDueSchedules(ctx)),
    sweep('due times', RECALL_MS, () => recallDueTimes(ctx)),
    sweep('checkpoints', SWEEP_MS, () => checkpointDue(ctx, brokenChains)),
    sweep('open streams', LOOK_AGAIN_MS, async () => ctx.bells.ring(LOOK_AGAIN)),
    sweep('reports', FOLD_MS, () => foldReports(ctx)),
    deliveries(ctx),
    sweep('left-overs', TIDY_MS, () => tidy(ctx)),
    ...(retentionDays === null ? [] : [sweep('retention', SWEEP_MS, () => pruneOldLogs(ctx, retentionDays))]),
    ...(ctx.config.otlp ? [traceExport(ctx, ctx.config.otlp, VERSION)] : []),
    ...(ctx.store.kind === 'postgres' ? [sweep('followers', FOLLOW_MS, () => catchUpAll(ctx))] : []),
  ]
}

/** What nobody can use any more goes. */
async function tidy(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  const yesterday = isoTime(now - DAY_MS)
  await sweepAccounts(ctx)
  await sweepPortal(ctx)
  await inTx(ctx, (tx) => dropKeysBefore(tx.db, { before: yesterday }))
  await inTx(ctx, (tx) => dropCounters(tx.db, yesterday.slice(0, 10)))
  await inTx(ctx, (tx) => dropReplicasBefore(tx.db, { before: yesterday }))
  await inTx(ctx, (tx) => dropDeliveriesBefore(tx.db, { before: isoTime(now - 7 * DAY_MS) }))
}

/** The bundled programs lie beside the bundle; in development, in `dist`. */
function agentDir(): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  return existsSync(join(here, 'harness.cjs')) ? here : join(here, '..', 'dist')
}
