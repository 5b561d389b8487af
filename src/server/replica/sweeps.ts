import { createChannelPollLoop } from '../../customers/channels/poll-channels.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { createLoop, type Loop } from '../../platform/ctx/loop.ts'
import { deleteOldTasks } from '../../automation/retention/delete-old-tasks.ts'
import { catchUpAllFollowers } from '../../work/events/follow-log.ts'
import { deleteExpiredRows } from '../../automation/retention/delete-expired-rows.ts'
import {
  removeUnfinishedFiles,
  removeUnusedFiles,
  removeUnusedIncomingFiles,
} from '../../automation/retention/remove-files.ts'
import { removeExpiredMcpAccess } from '../mcp/oauth/tokens.ts'
import { createNotificationLoop } from '../../approvals/notifications/notification-loop.ts'
import { createNoticeLoop } from '../../conversations/portal/notices.ts'
import { fireDueSchedules } from '../../automation/schedules/fire-schedules.ts'
import { undoClockSkew } from '../../automation/schedules/undo-clock-skew.ts'
import { pruneOldLogs } from '../../automation/retention/prune-logs.ts'
import { createWebhookDeliveryLoop } from '../../automation/webhooks/delivery-loop.ts'
import { signDueCheckpoints } from '../../audit/sign-checkpoints.ts'
import { commitDueHolds } from '../../approvals/decisions/commit-holds.ts'
import { expireDueApprovals } from '../../approvals/lifecycle/expire-approvals.ts'
import { useDecisionLink } from '../../approvals/notifications/links/use-decision-link.ts'
import { endTasksOfDeadReplicas } from '../../execution/runs/replicas/dead-replicas.ts'
import { HeartbeatMonitor } from '../../execution/runs/replicas/heartbeat-monitor.ts'
import { OrphanedTasks } from '../../execution/runs/replicas/orphaned-tasks.ts'
import {
  endRunsIfLeaseExpired,
  heartbeatIntervalMs,
  type ReplicaLease,
  renewReplicaLease,
} from '../../execution/runs/replicas/replica-lease.ts'
import { refreshFullProjects } from '../../identity/limits/storage-usage.ts'
import { createTraceExport } from '../../insight/telemetry/trace-export.ts'
import { servesApi } from '../../platform/config/role-settings.ts'
import { StoreUnavailable } from '../../platform/store/errors.ts'
import { VERSION } from '../planes/view.ts'
import type { TaskExecution } from './task-execution.ts'

const APPROVAL_CHECK_MS = 1_000
const CHECKPOINT_CHECK_MS = 1_000
const STORAGE_MS = 5_000
const RETENTION_MS = 1_000
const TASK_RETENTION_PAUSE_MS = 60_000
/** Half of the shortest cadence: a check as long as the cadence would sometimes skip a slot. */
const SCHEDULE_CHECK_MS = 500
const FOLLOWER_POLL_MS = 400
const CLOCK_SKEW_CHECK_MS = 30_000
const STREAM_RECHECK_MS = 30_000
const CLEANUP_MS = 10 * 60_000
const DAY_MS = 24 * 60 * 60_000

type Sweep = (stopping: AbortSignal) => Promise<unknown>
type CreateSweep = (name: string, ms: number, work: Sweep) => Loop

/** All periodic work of this replica. Several replicas may do all of it at the same time. */
export function createSweeps(ctx: Ctx, execution: TaskExecution | null, lease: ReplicaLease): Loop {
  // The store itself logs that it is unavailable, once.
  const logFailure = (name: string) => (err: unknown) =>
    err instanceof StoreUnavailable || ctx.world.log.error({ err }, `${name} failed`)
  const sweep: CreateSweep = (name, ms, work) => createLoop(ctx.world.clock, ms, work, logFailure(name))
  const loops = [
    ...createOwnSweeps(ctx, execution, lease, sweep),
    ...(servesApi(ctx.config) ? createSharedSweeps(ctx, sweep) : []),
  ]
  return {
    start() {
      for (const loop of loops) loop.start()
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** What concerns this replica: its lease and its tasks, what it keeps in memory, its wedges, and its traces. */
function createOwnSweeps(ctx: Ctx, execution: TaskExecution | null, lease: ReplicaLease, sweep: CreateSweep): Loop[] {
  const { maxProjectMb, otlp } = ctx.config
  const heartbeatMs = heartbeatIntervalMs(ctx)
  const monitor = new HeartbeatMonitor()
  const orphanedTasks = execution && new OrphanedTasks(ctx, execution.runner)
  return [
    sweep('lease', heartbeatMs, (stopping) => renewReplicaLease(ctx, lease, stopping)),
    sweep('expired lease', heartbeatMs, async () => endRunsIfLeaseExpired(ctx, lease)),
    sweep('dead replicas', heartbeatMs, () => endTasksOfDeadReplicas(ctx, monitor)),
    ...(orphanedTasks ? [sweep('orphaned tasks', heartbeatMs, () => orphanedTasks.handleOrphaned())] : []),
    ...(maxProjectMb === 0 ? [] : [sweep('storage limit', STORAGE_MS, () => refreshFullProjects(ctx))]),
    ...(otlp ? [createTraceExport(ctx, otlp, VERSION)] : []),
    ...(execution ? [execution.checks] : []),
  ]
}

/** The work for all tasks, whichever replica executes them: the replicas that serve the API do it. */
function createSharedSweeps(ctx: Ctx, sweep: CreateSweep): Loop[] {
  const { retentionDays, taskRetentionDays } = ctx.config
  const { releaseSpace } = ctx.store
  const brokenChains = new Map<string, string>()
  return [
    sweep('approval expiry', APPROVAL_CHECK_MS, () => expireDueApprovals(ctx)),
    sweep('held approvals', APPROVAL_CHECK_MS, (stopping) => commitDueHolds(ctx, useDecisionLink, stopping)),
    sweep('checkpoints', CHECKPOINT_CHECK_MS, () => signDueCheckpoints(ctx, brokenChains)),
    sweep('schedules', SCHEDULE_CHECK_MS, () => fireDueSchedules(ctx)),
    sweep('clock skew', CLOCK_SKEW_CHECK_MS, () => undoClockSkew(ctx)),
    sweep('open streams', STREAM_RECHECK_MS, async () => ctx.changeHints.publish({ topic: 'recheck-streams' })),
    createWebhookDeliveryLoop(ctx),
    createNotificationLoop(ctx),
    createChannelPollLoop(ctx),
    createNoticeLoop(ctx),
    sweep('expired rows', CLEANUP_MS, () => cleanUp(ctx)),
    sweep('unused files', DAY_MS, () => removeUnusedIncomingFiles(ctx)),
    ...(retentionDays === null ? [] : [sweep('retention', RETENTION_MS, () => pruneOldLogs(ctx, retentionDays))]),
    ...(taskRetentionDays === null ? [] : [createTaskRetention(ctx, taskRetentionDays, sweep)]),
    ...(releaseSpace ? [sweep('free space', RETENTION_MS, (stopping) => releaseInSteps(releaseSpace, stopping))] : []),
    ...(ctx.store.kind === 'postgres' ? [sweep('followers', FOLLOWER_POLL_MS, () => catchUpAllFollowers(ctx))] : []),
  ]
}

/** Continues where the previous round ended. After all tasks were read it pauses, because some may have to be kept. */
function createTaskRetention(ctx: Ctx, days: number, sweep: CreateSweep): Loop {
  const { clock } = ctx.world
  let after = ''
  let pausedUntil = 0
  return sweep('task retention', RETENTION_MS, async () => {
    if (clock.now() < pausedUntil) return
    after = await deleteOldTasks(ctx, days, after)
    if (after === '') pausedUntil = clock.now() + TASK_RETENTION_PAUSE_MS
  })
}

/** At most 5 MiB each time, so that the write-ahead log stays short and other transactions can run. */
async function releaseInSteps(releaseSpace: () => Promise<boolean>, stopping: AbortSignal): Promise<void> {
  for (let step = 0; step < MAX_RELEASE_STEPS && !stopping.aborted && (await releaseSpace()); step++);
}

const MAX_RELEASE_STEPS = 20

/** Deletes what has expired, and files that nothing needs. */
async function cleanUp(ctx: Ctx): Promise<void> {
  await deleteExpiredRows(ctx)
  await removeExpiredMcpAccess(ctx)
  await removeUnfinishedFiles(ctx)
  if (ctx.config.retentionDays !== null) await removeUnusedFiles(ctx, ctx.config.retentionDays)
}
