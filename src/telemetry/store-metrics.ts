import type { Ctx } from '../ctx/ctx.ts'
import { findTaskUnscoped } from '../tasks/rows.ts'
import { CLAIMED_STATUSES } from '../tasks/status.ts'
import { type MetricFamily, gaugeFamily } from './prometheus-text.ts'
import { countActiveTasks, countPendingApprovals, countPendingDeliveries, countQueuedTasks } from './rows.ts'

/** What the store holds: the same whichever replica is asked. A store that cannot be asked is told as down. */
export async function storeMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const began = performance.now()
  try {
    await ctx.store.ping()
    const pingMs = performance.now() - began
    return [storeUp(1), ...(await openWorkMetrics(ctx)), ...latencyMetrics(ctx, pingMs)]
  } catch {
    return [storeUp(0)]
  }
}

const storeUp = (value: number) => gaugeFamily('svc_store_up', 'Whether the store answers.', value)

async function openWorkMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const [queued] = await countQueuedTasks(ctx.db, {})
  const active = new Map((await countActiveTasks(ctx.db, {})).map(({ status, n }) => [status, n]))
  const [approvals] = await countPendingApprovals(ctx.db, {})
  const [notices] = await countPendingDeliveries(ctx.db, {})
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
      'How long the oldest queued task waits; 0 when none does.',
      await taskAgeSeconds(ctx, queued?.oldest ?? null),
    ),
    gaugeFamily('svc_approvals_pending', 'Approvals that wait for a person.', approvals?.n ?? 0),
    gaugeFamily('svc_webhook_deliveries_pending', 'Notices that wait for their next attempt.', notices?.n ?? 0),
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
            'What a commit costs of late, flush included.',
            store.commitMs() / 1000,
          ),
        ]
      : []
  return [
    gaugeFamily('svc_store_ping_seconds', 'How long the store took to answer this reader.', pingMs / 1000),
    ...commits,
  ]
}
