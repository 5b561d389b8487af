import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrapOrganisation } from './accounts/bootstrap.ts'
import { deleteExpiredCredentials } from './accounts/sessions.ts'
import { refreshFullProjects } from './accounts/storage-usage.ts'
import { deleteOldPolicyCounters } from './approvals/policy-counter-rows.ts'
import { expireDueApprovals } from './lifecycle/expire-approvals.ts'
import { signDueCheckpoints } from './audit/sign-checkpoints.ts'
import { logBlueprintProblems } from './blueprints/read-blueprints.ts'
import { createNoticeLoop } from './portal/notices.ts'
import { removeExpiredPortalAccess } from './portal/session.ts'
import { createChannelPollLoop } from './channels/poll-channels.ts'
import type { Config } from './config/config.ts'
import { answerByMessage } from './conversations/answer-by-message.ts'
import { parseAllowedHosts } from './egress/address-rules.ts'
import { warnAboutUnreadableSecrets } from './vault/secrets.ts'
import { openVault } from './vault/vault.ts'
import { type Ctx, inTx } from './ctx/ctx.ts'
import { deleteInBatches, ROWS_PER_BATCH } from './ctx/delete-in-batches.ts'
import { createJointLoop, createLoop, type Loop } from './ctx/loop.ts'
import { createMemoryState } from './ctx/memory.ts'
import { decodeNotification } from './ctx/topics.ts'
import { sleep, toIsoTime, type World } from './ctx/world.ts'
import { catchUpFollowers, catchUpAllFollowers } from './events/follow-log.ts'
import { removeUnfinishedFiles } from './files/delete-file.ts'
import { removeUnusedFiles, removeUnusedIncomingFiles } from './files/retention.ts'
import { closeWithoutResets } from './http/close-server.ts'
import { removeExpiredMcpAccess } from './mcp/oauth/tokens.ts'
import { warnAboutMissingModelKeys } from './models/provider-keys.ts'
import { openSandboxPlane, type SandboxPlane } from './planes/sandbox-plane.ts'
import { createPublicServer } from './planes/public-server.ts'
import { VERSION } from './planes/version.ts'
import { CHANGED_PROJECTS_MS, ChangedProjects } from './reports/changed-projects.ts'
import { rollUpNewRowsOf, rollUpReports } from './reports/rollup.ts'
import { endTasksOfDeadReplicas, endTasksOfEarlierProcess } from './runs/dead-replicas.ts'
import {
  createReplicaLease,
  endRunsIfLeaseExpired,
  HEARTBEAT_INTERVAL_MS,
  LEASE_TIMEOUT_MS,
  type ReplicaLease,
  renewReplicaLease,
} from './runs/replica-lease.ts'
import { deleteCommitMarksBefore, deleteReplicasBefore } from './runs/rows.ts'
import { createAgentChecks } from './runs/agent-checks.ts'
import { warnAboutHiddenProgram } from './runs/agent-program.ts'
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
import { deleteOldNotificationRows } from './notifications/delete-old-rows.ts'
import { createNotificationLoop } from './notifications/notification-loop.ts'
import { openMetricsServer, requireMetricsToken } from './telemetry/metrics-server.ts'
import { createTraceExport } from './telemetry/trace-export.ts'
import { createWebhookDeliveryLoop } from './webhooks/delivery-loop.ts'
import { deleteDeliveriesBefore } from './webhooks/delivery-rows.ts'
import { type FolderLibrary, openWedgeLibrary } from './wedges/library.ts'
import { WedgePrograms } from './workflows/wedge-programs.ts'
import { WorkflowRunner } from './workflows/workflow-runner.ts'

/** One replica: its servers, its runner and its periodic sweeps over one store. */
export interface App {
  ctx: Ctx
  driver: SandboxDriver
  /** The address of the public server. */
  url: string
  /** The address for Prometheus; null if no metrics port is configured. */
  metricsUrl: string | null
  stop(): Promise<void>
}

/**
 * The public server listens before the sandbox has been checked; tasks that are created meanwhile wait in the queue.
 * `onFounderKey` gets the founder key, on the first start only and as soon as it exists, because a later step may fail.
 */
export async function startApp(
  config: Config,
  world: World,
  onFounderKey: (key: string) => void = () => {},
): Promise<App> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  // Throws at the start if the list is invalid, instead of at the first action.
  parseAllowedHosts(config.egressAllow)
  requireMetricsToken(config, world)
  await requireFreePort(config)
  const pickedDriver = pickSandboxDriver(config.sandbox, (line, level) => world.log[level](line), [config.dataDir])
  // `startBackgroundWork` reports a failure; until it awaits the driver, Node would report an unhandled rejection.
  pickedDriver.catch(() => {})
  const ctx = await openCtx(config, world)
  const { key } = await bootstrapOrganisation(ctx)
  if (key) onFounderKey(key)
  warnAboutMissingModelKeys(ctx)
  await warnAboutUnreadableSecrets(ctx)
  await endLeftoverRuns(ctx)
  let draining = false
  const http = createPublicServer(ctx, pickedDriver, () => draining)
  const closeHttp = closeWithoutResets(http, () => draining)
  const url = await http.listen({ host: config.host, port: config.port })
  if (config.port === 0) ctx.config = { ...config, chosenPort: Number(new URL(url).port) }
  const { driver, loops, metrics, close } = await startBackgroundWork(ctx, pickedDriver).catch(async (error) => {
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
      await close(closeHttp)
      await metrics?.close()
      await Promise.all(loops.map((loop) => loop.stop()))
      ctx.wedges.stop()
      await ctx.store.close()
    },
  }
}

/** Everything beside the public server: the runner with its cells, the metrics server and the sweeps. */
async function startBackgroundWork(ctx: Ctx & { wedges: FolderLibrary }, pickedDriver: Promise<SandboxDriver>) {
  const driver = await pickedDriver
  const workflows = new WorkflowRunner(ctx, driver, agentDir())
  const programs = new WedgePrograms(driver, agentDir())
  ctx.programStarter.start = (program, onLine) => programs.start(program, onLine)
  let plane: SandboxPlane
  const lease = createReplicaLease(ctx)
  const runner = new Runner(ctx, driver, agentDir(), lease, {
    http: (request, response) => plane.http.routing(request, response),
    lines: (...call) => plane.pipe(...call),
  })
  plane = openSandboxPlane(ctx, runner, workflows)
  await plane.http.ready()
  await logBlueprintProblems(ctx)
  warnAboutHiddenProgram(ctx, driver)
  const metrics = await openMetricsServer(ctx, {
    version: VERSION,
    sandbox: driver.kind,
    cells: () => runner.pool.listCells(),
    workflowProcesses: () => workflows.processCount,
  })
  const checks = createAgentChecks({ ctx, driver, agentDir: agentDir(), library: ctx.wedges })
  const loops = [...createSweeps(ctx, runner, lease), checks]
  // Other replicas would end the tasks of one without a heartbeat.
  await renewReplicaLease(ctx, lease, AbortSignal.timeout(LEASE_TIMEOUT_MS))
  for (const loop of [...loops, runner]) loop.start()
  return {
    driver,
    loops,
    metrics,
    /** The runs end first, so that connected clients still receive the last events of their tasks. */
    close: async (closePublicServer: () => Promise<unknown>) => {
      const { drainDelayS } = ctx.config
      await Promise.all([runner.stop(), drainDelayS > 0 && sleep(ctx.world.clock, drainDelayS * 1000)])
      await programs.close()
      await closePublicServer()
      await plane.http.close()
      await workflows.close()
    },
  }
}

async function openCtx(config: Config, world: World) {
  const replica = `rep_${Buffer.from(world.random(9)).toString('base64url')}`
  const store = await openStore(config, (message, err) => world.log.warn({ err }, message), replica)
  if (store.now) world.clock.follow?.(store.now)
  const wedges = await openWedgeLibrary(config.wedgesDir, world.log, config)
  const ctx = {
    config,
    store,
    db: store.db,
    world,
    ...createMemoryState(),
    messageAnswers: { tryAnswer: answerByMessage },
    wedges,
    vault: openVault(world),
    replica,
  }
  store.subscribe((text) => {
    const notification = decodeNotification(text)
    if (notification?.topic !== 'log-appended') return notification && ctx.notifications.publish(notification)
    // Followers that miss an event here get it from the next poll.
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
/** Half of the shortest cadence: a check as long as the cadence would sometimes skip a slot. */
const SCHEDULE_CHECK_MS = 500
const FOLLOWER_POLL_MS = 400
const STORAGE_MS = 5_000
const REPORT_MS = 60_000
const CLOCK_SKEW_CHECK_MS = 30_000
const STREAM_RECHECK_MS = 30_000
const CLEANUP_MS = 10 * 60_000
const DAY_MS = 24 * 60 * 60_000

type Sweep = (stopping: AbortSignal) => Promise<unknown>

/** The periodic work of every replica. Several replicas may do all of it at the same time. */
function createSweeps(ctx: Ctx, runner: Runner, lease: ReplicaLease): Loop[] {
  const { clock, log } = ctx.world
  const monitor = new HeartbeatMonitor()
  const orphanedTasks = new OrphanedTasks(ctx, runner)
  const changedProjects = new ChangedProjects(ctx)
  const brokenChains = new Map<string, string>()
  const { retentionDays } = ctx.config
  // The store itself logs that it is unavailable, once.
  const logFailure = (name: string) => (err: unknown) =>
    err instanceof StoreUnavailable || log.error({ err }, `${name} failed`)
  const sweep = (name: string, ms: number, work: Sweep) => createLoop(clock, ms, work, logFailure(name))
  const everySecond: Record<string, Sweep> = {
    lease: (stopping) => renewReplicaLease(ctx, lease, stopping),
    'expired lease': async () => endRunsIfLeaseExpired(ctx, lease),
    'dead replicas': () => endTasksOfDeadReplicas(ctx, monitor),
    'orphaned tasks': () => orphanedTasks.handleOrphaned(),
    'approval expiry': () => expireDueApprovals(ctx),
    checkpoints: () => signDueCheckpoints(ctx, brokenChains),
  }
  const works = Object.entries(everySecond).map(
    ([name, work]): Sweep =>
      (stopping) =>
        work(stopping).catch(logFailure(name)),
  )
  return [
    createJointLoop(clock, HEARTBEAT_INTERVAL_MS, works),
    sweep('schedules', SCHEDULE_CHECK_MS, () => fireDueSchedules(ctx)),
    sweep('clock skew', CLOCK_SKEW_CHECK_MS, () => undoClockSkew(ctx)),
    sweep('open streams', STREAM_RECHECK_MS, async () => ctx.notifications.publish({ topic: 'recheck-streams' })),
    sweep('new report rows', CHANGED_PROJECTS_MS, () => rollUpNewRowsOf(ctx, changedProjects.list())),
    sweep('reports', REPORT_MS, () => rollUpReports(ctx)),
    createWebhookDeliveryLoop(ctx),
    createNotificationLoop(ctx),
    createChannelPollLoop(ctx),
    createNoticeLoop(ctx),
    sweep('expired rows', CLEANUP_MS, () => deleteExpiredRows(ctx)),
    sweep('unused files', DAY_MS, () => removeUnusedIncomingFiles(ctx)),
    ...(ctx.config.maxProjectMb === 0 ? [] : [sweep('storage limit', STORAGE_MS, () => refreshFullProjects(ctx))]),
    ...(retentionDays === null ? [] : [sweep('retention', SWEEP_MS, () => pruneOldLogs(ctx, retentionDays))]),
    ...(ctx.config.otlp ? [createTraceExport(ctx, ctx.config.otlp, VERSION)] : []),
    ...(ctx.store.kind === 'postgres' ? [sweep('followers', FOLLOWER_POLL_MS, () => catchUpAllFollowers(ctx))] : []),
  ]
}

/** Deletes credentials, keys, counters and deliveries that have expired, and files that nothing needs. */
async function deleteExpiredRows(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  const yesterday = toIsoTime(now - DAY_MS)
  await deleteExpiredCredentials(ctx)
  await removeExpiredPortalAccess(ctx)
  await deleteOldNotificationRows(ctx)
  await removeExpiredMcpAccess(ctx)
  await removeUnfinishedFiles(ctx)
  if (ctx.config.retentionDays !== null) await removeUnusedFiles(ctx, ctx.config.retentionDays)
  await deleteInBatches(ctx, (tx) => deleteIdempotencyKeysBefore(tx.db, yesterday, ROWS_PER_BATCH))
  await inTx(ctx, (tx) => deleteOldPolicyCounters(tx.db, yesterday.slice(0, 10)))
  await inTx(ctx, (tx) => deleteReplicasBefore(tx.db, { before: yesterday }))
  await inTx(ctx, (tx) => deleteCommitMarksBefore(tx.db, { before: yesterday }))
  await deleteInBatches(ctx, (tx) => deleteDeliveriesBefore(tx.db, toIsoTime(now - 7 * DAY_MS), ROWS_PER_BATCH))
}

/**
 * Fails as listening would. It runs before the first start creates the founder key, which is shown only once: a start
 * that failed later would lose the key.
 */
function requireFreePort({ host, port }: Config): Promise<void> {
  const probe = createServer()
  return new Promise((resolve, reject) => {
    probe.once('error', reject)
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}

/** The folder of the bundled programs: next to the server's bundle; in development, `dist`. */
function agentDir(): string {
  const here = fileURLToPath(new URL('.', import.meta.url))
  return existsSync(join(here, 'harness.cjs')) ? here : join(here, '..', 'dist')
}
