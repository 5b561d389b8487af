import { indexAuditEntries } from '../../audit/index-entries.ts'
import { createChannelPollLoop } from '../../customers/channels/poll-channels.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Loop } from '../../platform/ctx/loop.ts'
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
import { rollUpReports } from '../../insight/analytics/rollup.ts'
import { fireDueSchedules } from '../../automation/schedules/fire-schedules.ts'
import { undoClockSkew } from '../../automation/schedules/undo-clock-skew.ts'
import { pruneOldLogs } from '../../work/tasks/retention.ts'
import { createWebhookDeliveryLoop } from '../../automation/webhooks/delivery-loop.ts'

const RETENTION_MS = 1_000
const TASK_RETENTION_PAUSE_MS = 60_000
/** Half of the shortest cadence: a check as long as the cadence would sometimes skip a slot. */
const SCHEDULE_CHECK_MS = 500
const FOLLOWER_POLL_MS = 400
const AUDIT_INDEX_MS = 5_000
const REPORT_MS = 60_000
const CLOCK_SKEW_CHECK_MS = 30_000
const STREAM_RECHECK_MS = 30_000
const CLEANUP_MS = 10 * 60_000
const DAY_MS = 24 * 60 * 60_000

export type Sweep = (stopping: AbortSignal) => Promise<unknown>
export type CreateSweep = (name: string, ms: number, work: Sweep) => Loop

/** The work for all tasks, whichever replica executes them: the replicas that serve the API do it. */
export function createSharedSweeps(ctx: Ctx, sweep: CreateSweep): Loop[] {
  const { retentionDays, taskRetentionDays } = ctx.config
  const { releaseSpace } = ctx.store
  return [
    sweep('schedules', SCHEDULE_CHECK_MS, () => fireDueSchedules(ctx)),
    sweep('clock skew', CLOCK_SKEW_CHECK_MS, () => undoClockSkew(ctx)),
    sweep('open streams', STREAM_RECHECK_MS, async () => ctx.notifications.publish({ topic: 'recheck-streams' })),
    sweep('audit index', AUDIT_INDEX_MS, () => indexAuditEntries(ctx)),
    sweep('reports', REPORT_MS, () => rollUpReports(ctx)),
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

/** At most 5 MiB each time, so that the write-ahead log stays short and other transactions have their turn. */
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
