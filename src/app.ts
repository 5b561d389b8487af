import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrapOrganisation } from './accounts/bootstrap.ts'
import { deleteExpiredCredentials } from './accounts/sessions.ts'
import { deleteOldPolicyCounters } from './approvals/policy-counter-rows.ts'
import { expireDueApprovals } from './lifecycle/expire-approvals.ts'
import { signDueCheckpoints } from './audit/sign-checkpoints.ts'
import { logBlueprintProblems } from './blueprints/read-blueprints.ts'
import { removeExpiredPortalAccess } from './portal/session.ts'
import type { Config } from './config/config.ts'
import { parseAllowedHosts } from './egress/address-rules.ts'
import { warnAboutUnreadableSecrets } from './vault/secrets.ts'
import { openVault } from './vault/vault.ts'
import { type Ctx, inTx } from './ctx/ctx.ts'
import { createLoop, type Loop } from './ctx/loop.ts'
import { createMemoryState } from './ctx/memory.ts'
import { decodeNotification } from './ctx/topics.ts'
import { toIsoTime, type World } from './ctx/world.ts'
import { catchUpFollowers, catchUpAllFollowers } from './events/follow-log.ts'
import { requireFreePort } from './http/free-port.ts'
import { warnAboutMissingModelKeys } from './models/provider-keys.ts'
import { openSandboxPlane, type SandboxPlane } from './planes/sandbox-plane.ts'
import { createPublicServer } from './planes/public-server.ts'
import { VERSION } from './planes/version.ts'
import { rollUpReports } from './reports/rollup.ts'
import { endTasksOfDeadReplicas, endTasksOfEarlierProcess } from './runs/dead-replicas.ts'
import {
  createReplicaLease,
  endRunsIfLeaseExpired,
  HEARTBEAT_INTERVAL_MS,
  renewReplicaLease,
} from './runs/replica-lease.ts'
import { deleteReplicasBefore } from './runs/rows.ts'
import { Runner } from './runs/runner.ts'
import { OrphanedTasks } from './runs/orphaned-tasks.ts'
import { HeartbeatMonitor } from './runs/heartbeat-monitor.ts'
import type { SandboxDriver } from './sandbox/driver.ts'
import { pickSandboxDriver } from './sandbox/pick-driver.ts'
import { fireDueSchedules } from './schedules/fire-schedules.ts'
import { undoClockSkew } from './schedules/undo-clock-skew.ts'
import { StoreUnavailable } from './store/errors.ts'
import { openStore } from './store/open-store.ts'
import { deleteIdempotencyKeysBefore } from './tasks/idempotency-rows.ts'
import { pruneOldLogs } from './tasks/retention.ts'
import { openMetricsServer, requireMetricsToken } from './telemetry/metrics-server.ts'
import { createTraceExport } from './telemetry/trace-export.ts'
import { createWebhookDeliveryLoop } from './webhooks/delivery-loop.ts'
import { deleteDeliveriesBefore } from './webhooks/delivery-rows.ts'
import { openWedgeLibrary } from './wedges/library.ts'
import { WorkflowRunner } from './workflows/workflow-runner.ts'

/** One replica: its doors, its runner and its sweepers over one store. */
export interface App {
  ctx: Ctx
  driver: SandboxDriver
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
  parseAllowedHosts(config.egressAllow)
  requireMetricsToken(config, world)
  await requireFreePort(config)
  const picking = pickSandboxDriver(config.sandbox, (line, level) => world.log[level](line), [config.dataDir])
  // Whoever awaits it hears of a failure; until then it is not left alone.
  picking.catch(() => {})
  const ctx = await openCtx(config, world)
  const { key } = await bootstrapOrganisation(ctx)
  if (key) tellKey(key)
  warnAboutMissingModelKeys(ctx)
  await warnAboutUnreadableSecrets(ctx)
  await endLeftoverRuns(ctx)
  let draining = false
  const http = createPublicServer(ctx, picking, () => draining)
  const url = await http.listen({ host: config.host, port: config.port })
  const { driver, loops, metrics, close } = await startBackgroundWork(ctx, picking).catch(async (error) => {
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
async function startBackgroundWork(ctx: Ctx, picking: Promise<SandboxDriver>) {
  const driver = await picking
  const workflows = new WorkflowRunner(ctx, driver, agentDir())
  let plane: SandboxPlane
  const runner = new Runner(ctx, driver, agentDir(), {
    http: (request, response) => plane.http.routing(request, response),
    lines: (...question) => plane.pipe(...question),
  })
  plane = openSandboxPlane(ctx, runner, workflows)
  await plane.http.ready()
  await logBlueprintProblems(ctx)
  const metrics = await openMetricsServer(ctx, {
    version: VERSION,
    sandbox: driver.kind,
    cells: () => runner.pool.listCells(),
    workflowProcesses: () => workflows.processCount,
  })
  const loops = createSweeps(ctx, runner)
  for (const loop of [...loops, runner]) loop.start()
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

async function openCtx(config: Config, world: World) {
  const store = await openStore(config, (message, err) => world.log.warn({ err }, message))
  if (store.now) world.clock.follow?.(store.now)
  const wedges = await openWedgeLibrary(config.wedgesDir, world.log)
  const ctx = {
    config,
    store,
    db: store.db,
    world,
    ...createMemoryState(),
    wedges,
    vault: openVault(world),
    replica: `rep_${Buffer.from(world.random(9)).toString('base64url')}`,
  }
  store.subscribe((text) => {
    const notification = decodeNotification(text)
    if (notification?.topic !== 'log-appended') return notification && ctx.notifications.publish(notification)
    // What cannot be read now is found by the next poll.
    catchUpFollowers(ctx, notification.id).catch((err) => world.log.warn({ err }, 'log followers not caught up'))
  })
  wedges.start()
  return ctx
}

/** On SQLite no other replica can be running; on PostgreSQL the leases show which replicas are alive. */
async function endLeftoverRuns(ctx: Ctx): Promise<void> {
  if (ctx.store.kind === 'sqlite') await endTasksOfEarlierProcess(ctx)
}

const SWEEP_MS = 1_000
/** Half of the shortest cadence: with a look for each of its slots, one of them would be skipped now and then. */
const SCHEDULE_CHECK_MS = 500
const FOLLOWER_POLL_MS = 400
const REPORT_MS = 60_000
const CLOCK_SKEW_CHECK_MS = 30_000
const STREAM_RECHECK_MS = 30_000
const CLEANUP_MS = 10 * 60_000
const DAY_MS = 24 * 60 * 60_000

/** What every replica does again and again; all of it is safe to do together. */
function createSweeps(ctx: Ctx, runner: Runner): Loop[] {
  const { clock, log } = ctx.world
  const lease = createReplicaLease(ctx)
  const monitor = new HeartbeatMonitor()
  const orphanedTasks = new OrphanedTasks(ctx, () => runner.executingTaskIds())
  const brokenChains = new Map<string, string>()
  const { retentionDays } = ctx.config
  const sweep = (name: string, ms: number, work: (stopping: AbortSignal) => Promise<unknown>) =>
    // That the store is away is told once, and not by everyone who notices.
    createLoop(clock, ms, work, (err) => err instanceof StoreUnavailable || log.error({ err }, `${name} failed`))
  return [
    sweep('lease', HEARTBEAT_INTERVAL_MS, (stopping) => renewReplicaLease(ctx, lease, stopping)),
    sweep('expired lease', SWEEP_MS, async () => endRunsIfLeaseExpired(ctx, lease)),
    sweep('dead replicas', HEARTBEAT_INTERVAL_MS, () => endTasksOfDeadReplicas(ctx, monitor)),
    sweep('orphaned tasks', HEARTBEAT_INTERVAL_MS, () => orphanedTasks.endOrphaned()),
    sweep('expiry', SWEEP_MS, () => expireDueApprovals(ctx)),
    sweep('schedules', SCHEDULE_CHECK_MS, () => fireDueSchedules(ctx)),
    sweep('due times', CLOCK_SKEW_CHECK_MS, () => undoClockSkew(ctx)),
    sweep('checkpoints', SWEEP_MS, () => signDueCheckpoints(ctx, brokenChains)),
    sweep('open streams', STREAM_RECHECK_MS, async () => ctx.notifications.publish({ topic: 'recheck-streams' })),
    sweep('reports', REPORT_MS, () => rollUpReports(ctx)),
    createWebhookDeliveryLoop(ctx),
    sweep('left-overs', CLEANUP_MS, () => deleteExpiredRows(ctx)),
    ...(retentionDays === null ? [] : [sweep('retention', SWEEP_MS, () => pruneOldLogs(ctx, retentionDays))]),
    ...(ctx.config.otlp ? [createTraceExport(ctx, ctx.config.otlp, VERSION)] : []),
    ...(ctx.store.kind === 'postgres' ? [sweep('followers', FOLLOWER_POLL_MS, () => catchUpAllFollowers(ctx))] : []),
  ]
}

/** What nobody can use any more goes. */
async function deleteExpiredRows(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  const yesterday = toIsoTime(now - DAY_MS)
  await deleteExpiredCredentials(ctx)
  await removeExpiredPortalAccess(ctx)
  await inTx(ctx, (tx) => deleteIdempotencyKeysBefore(tx.db, { before: yesterday }))
  await inTx(ctx, (tx) => deleteOldPolicyCounters(tx.db, yesterday.slice(0, 10)))
  await inTx(ctx, (tx) => deleteReplicasBefore(tx.db, { before: yesterday }))
  await inTx(ctx, (tx) => deleteDeliveriesBefore(tx.db, { before: toIsoTime(now - 7 * DAY_MS) }))
}

/** The bundled programs lie beside the bundle; in development, in `dist`. */
function agentDir(): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  return existsSync(join(here, 'harness.cjs')) ? here : join(here, '..', 'dist')
}
