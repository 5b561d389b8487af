import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { bootstrapOrganisation } from '../identity/authentication/bootstrap.ts'
import { logBlueprintProblems } from '../automation/blueprints/read-blueprints.ts'
import type { Config } from '../platform/config/config.ts'
import { runsTasks, servesApi } from '../platform/config/role-settings.ts'
import { answerByMessage } from '../conversations/team/answer-by-message.ts'
import { parseAllowedHosts } from '../platform/egress/address-rules.ts'
import { EgressError } from '../platform/egress/http-client.ts'
import { warnAboutUnreadableSecrets } from '../identity/vault/secrets.ts'
import { openVault } from '../identity/vault/vault.ts'
import { type Ctx, withRetryingStore } from '../platform/ctx/ctx.ts'
import { createMemoryState } from '../platform/ctx/memory.ts'
import { programsFolder } from '../platform/config/programs-folder.ts'
import { decodeHint } from '../platform/ctx/topics.ts'
import { sleep, type World } from '../platform/ctx/world.ts'
import { catchUpFollowers } from '../work/events/follow-log.ts'
import { closeWithoutResets } from '../platform/http/close-server.ts'
import { warnAboutMissingModelKeys } from '../execution/models/provider-keys.ts'
import { createHealthServer, createPublicServer } from './planes/public-server.ts'
import type { ReplicaState } from './planes/service-routes.ts'
import { VERSION } from './planes/view.ts'
import { createSweeps } from './replica/sweeps.ts'
import { openTaskExecution } from './replica/task-execution.ts'
import { endTasksOfEarlierProcess } from '../execution/runs/replicas/dead-replicas.ts'
import { createReplicaLease, renewReplicaLease } from '../execution/runs/replicas/replica-lease.ts'
import type { SandboxDriver } from '../execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../execution/sandbox/pick-driver.ts'
import { openStore } from '../platform/store/open-store.ts'
import { openMetricsServer, requireMetricsToken } from '../insight/telemetry/metrics-server.ts'
import { type FolderLibrary, openWedgeLibrary } from '../wedges/library/library.ts'

/** One replica: its servers, its runner and its periodic sweeps over one store. `SVC_ROLE` says which of them it has. */
export interface App {
  ctx: Ctx
  /** Null if this replica executes no tasks. */
  driver: SandboxDriver | null
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
  parseAllowedHosts(config.egressAllow, 0)
  requireMetricsToken(config, world)
  await requireFreePort(config)
  const pickedDriver = runsTasks(config) ? pickDriver(config, world) : Promise.resolve(null)
  // `startBackgroundWork` reports a failure; until it awaits the driver, Node would report an unhandled rejection.
  pickedDriver.catch(() => {})
  const ctx = await openCtx(config, world)
  const { key } = servesApi(config) ? await bootstrapOrganisation(ctx) : { key: null }
  if (key) onFounderKey(key)
  warnAboutMissingModelKeys(ctx)
  await warnAboutUnreadableSecrets(ctx)
  await endLeftoverRuns(ctx)
  let state: ReplicaState = 'starting'
  const readState = () => state
  const closing = new AbortController()
  const http = servesApi(config)
    ? createPublicServer(withRetryingStore(ctx, closing.signal), pickedDriver, readState)
    : createHealthServer(ctx, readState)
  const closeHttp = closeWithoutResets(http, () => state === 'stopping')
  const url = await http.listen({ host: config.host, port: config.port })
  if (config.port === 0) ctx.config.chosenPort = Number(new URL(url).port)
  const { driver, sweeps, metrics, close } = await startBackgroundWork(ctx, pickedDriver).catch(async (error) => {
    await http.close()
    await ctx.store.close()
    throw error
  })
  state = 'running'
  return {
    ctx,
    driver,
    url,
    metricsUrl: metrics?.url ?? null,
    async stop() {
      state = 'stopping'
      await close(() => {
        // Requests that wait for the database get 503; later their connections would be cut.
        closing.abort()
        return closeHttp()
      })
      // The mails that they parse now are read again later.
      await Promise.all(Object.values(ctx.parserThreads).map((thread) => thread.close()))
      await metrics?.close()
      await sweeps.stop()
      ctx.wedges.stop()
      await ctx.store.close()
    },
  }
}

const pickDriver = (config: Config, world: World): Promise<SandboxDriver> =>
  pickSandboxDriver(config.sandbox, (line, level) => world.log[level](line), [config.dataDir])

/** Everything beside the public server: the runner with its cells, the metrics server and the sweeps. */
async function startBackgroundWork(ctx: Ctx & { wedges: FolderLibrary }, pickedDriver: Promise<SandboxDriver | null>) {
  const driver = await pickedDriver
  const lease = createReplicaLease(ctx)
  const execution = driver && (await openTaskExecution(ctx, driver, programsFolder(), lease))
  if (!execution) ctx.programStarter.start = refuseProgram
  await logBlueprintProblems(ctx)
  const metrics = await openMetricsServer(ctx, {
    version: VERSION,
    sandbox: driver?.kind ?? 'none',
    cells: () => execution?.runner.pool.listCells() ?? [],
    workflowProcesses: () => execution?.workflowProcesses() ?? 0,
  })
  const sweeps = createSweeps(ctx, execution, lease)
  // Other replicas would end the tasks of one without a heartbeat.
  await renewReplicaLease(ctx, lease, AbortSignal.timeout(ctx.config.leaseMs))
  sweeps.start()
  execution?.runner.start()
  return {
    driver,
    sweeps,
    metrics,
    /** The runs end first, so that connected clients still receive the last events of their tasks. */
    close: async (closePublicServer: () => Promise<unknown>) => {
      const { drainDelayS } = ctx.config
      await Promise.all([execution?.runner.stop(), drainDelayS > 0 && sleep(ctx.world.clock, drainDelayS * 1000)])
      await execution?.closePrograms()
      await closePublicServer()
      await execution?.closeWorkflows()
    },
  }
}

function refuseProgram(): never {
  throw new EgressError(
    'unreachable',
    'a replica with SVC_ROLE=api starts no servers of wedges: ask one with SVC_ROLE=all',
  )
}

async function openCtx(config: Config, world: World) {
  const replica = `rep_${Buffer.from(world.random(9)).toString('base64url')}`
  const store = await openStore(config, (message, err) => world.log.warn({ err }, message), replica)
  if (store.now) world.clock.follow?.(store.now)
  const wedges = await openWedgeLibrary(config.wedgesDir, world.log, config)
  const ctx = {
    // A copy, because the port may be added.
    config: { ...config },
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
    const hint = decodeHint(text)
    if (hint?.topic !== 'log-appended') return hint && ctx.changeHints.publish(hint)
    // Followers that miss an event here get it from the next poll.
    catchUpFollowers(ctx, hint.id).catch((err) => world.log.warn({ err }, 'log followers not caught up'))
  })
  wedges.start()
  return ctx
}

/** On SQLite no other replica can be running; on PostgreSQL the leases show which replicas are alive. */
async function endLeftoverRuns(ctx: Ctx): Promise<void> {
  if (ctx.store.kind === 'sqlite') await endTasksOfEarlierProcess(ctx)
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
