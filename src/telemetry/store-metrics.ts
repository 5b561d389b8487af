import type { Ctx } from '../ctx/ctx.ts'
import { findTaskUnscoped } from '../tasks/rows.ts'
import { CLAIMED_STATUSES } from '../tasks/status.ts'
import { type MetricFamily, gaugeFamily } from './prometheus-text.ts'
import {
  countActiveTasks,
  countPendingApprovals,
  countPendingDeliveries,
  countQueuedTasks,
  sumStoredBytes,
} from './rows.ts'

/** Metrics of the store, the same on every replica. If the store is unavailable, only `svc_store_up 0` is reported. */
export async function storeMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const start = performance.now()
  try {
    await ctx.store.ping()
    const pingMs = performance.now() - start
    return [storeUp(1), ...(await openWorkMetrics(ctx)), ...latencyMetrics(ctx, pingMs)]
  } catch {
    return [storeUp(0)]
  }
}

const storeUp = (value: number) => gaugeFamily('svc_store_up', '1 if the store responds, else 0.', value)

async function openWorkMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const [queued] = await countQueuedTasks(ctx.db, {})
  const active = new Map((await countActiveTasks(ctx.db, {})).map(({ status, n }) => [status, n]))
  const [approvals] = await countPendingApprovals(ctx.db, {})
  const [stored] = await sumStoredBytes(ctx.db, {})
  const [deliveries] = await countPendingDeliveries(ctx.db, {})
  const byStatus = {
    queued: queued?.n ?? 0,
    ...Object.fromEntries(CLAIMED_STATUSES.map((name) => [name, active.get(name) ?? 0])),
  }
  return [
    gaugeFamily(
      'svc_tasks_open',
      'Tasks that have not ended, by status; counted up to 100000 each.',
      Object.entries(byStatus).map(([status, value]) => ({ labels: { status }, value })),
    ),
    gaugeFamily(
      'svc_tasks_oldest_queued_seconds',
      'Waiting time of the oldest queued task; 0 if none is queued.',
      await taskAgeSeconds(ctx, queued?.oldest ?? null),
    ),
    gaugeFamily(
      'svc_stored_bytes',
      'Records of all projects, and events and files of finished tasks.',
      stored?.bytes ?? 0,
    ),
    gaugeFamily('svc_projects_storage_full', 'Projects that have reached SVC_MAX_PROJECT_MB.', ctx.fullProjects.size),
    gaugeFamily('svc_approvals_pending', 'Approvals that wait for a decision.', approvals?.n ?? 0),
    gaugeFamily(
      'svc_webhook_deliveries_pending',
      'Webhook deliveries that wait for their next attempt.',
      deliveries?.n ?? 0,
    ),
  ]
}

async function taskAgeSeconds(ctx: Ctx, taskId: string | null): Promise<number> {
  const task = taskId === null ? undefined : await findTaskUnscoped(ctx.db, taskId)
  return task ? Math.max(0, ctx.world.clock.now() - Date.parse(task.created_at)) / 1000 : 0
}

function latencyMetrics({ store }: Ctx, pingMs: number): MetricFamily[] {
  const commits =
    store.kind === 'sqlite'
      ? [
          gaugeFamily(
            'svc_store_commit_seconds',
            'Duration of recent commits, including the flush to disk.',
            store.commitMs() / 1000,
          ),
        ]
      : []
  return [
    gaugeFamily('svc_store_ping_seconds', 'Time that the store took to answer a ping for this scrape.', pingMs / 1000),
    ...commits,
  ]
}
