import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { PoolUse } from '../../platform/store/store.ts'
import { findTaskUnscoped } from '../../work/tasks/rows.ts'
import { CLAIMED_STATUSES } from '../../work/tasks/status.ts'
import { type MetricFamily, gaugeFamily } from './prometheus-text.ts'
import {
  countActiveTasks,
  countPendingApprovals,
  countPendingDeliveries,
  countQueuedTasks,
  findApprovalTime,
  sumStoredBytes,
} from './rows.ts'

/**
 * Metrics of the store, the same on every replica, and how this replica reaches it. If the store is unavailable, only
 * `svc_store_up 0` and the use of the connections are reported.
 */
export async function storeMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const use = ctx.store.poolUse()
  const pool = use ? poolMetrics(use) : []
  const start = performance.now()
  try {
    await ctx.store.ping()
    const pingMs = performance.now() - start
    return [storeUp(1), ...(await openWorkMetrics(ctx)), ...latencyMetrics(ctx, pingMs), ...pool]
  } catch {
    return [storeUp(0), ...pool]
  }
}

const storeUp = (value: number) => gaugeFamily('svc_store_up', '1 if the store responds, else 0.', value)

async function openWorkMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const [stored] = await sumStoredBytes(ctx.db, {})
  const [deliveries] = await countPendingDeliveries(ctx.db, {})
  return [
    ...(await taskMetrics(ctx)),
    ...(await approvalMetrics(ctx)),
    gaugeFamily(
      'svc_stored_bytes',
      'Records of all projects, and events and files of finished tasks.',
      stored?.bytes ?? 0,
    ),
    gaugeFamily('svc_projects_storage_full', 'Projects that have reached SVC_MAX_PROJECT_MB.', ctx.fullProjects.size),
    gaugeFamily(
      'svc_webhook_deliveries_pending',
      'Webhook deliveries that wait for their next attempt.',
      deliveries?.n ?? 0,
    ),
  ]
}

async function taskMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const [queued] = await countQueuedTasks(ctx.db, {})
  const active = new Map((await countActiveTasks(ctx.db, {})).map((row) => [row.status, row]))
  const oldest = queued?.oldest ? await findTaskUnscoped(ctx.db, queued.oldest) : undefined
  const claimed = CLAIMED_STATUSES.map((status) => ({ labels: { status }, value: active.get(status)?.n ?? 0 }))
  const parkable = CLAIMED_STATUSES.filter((status) => status !== 'provisioning')
  return [
    gaugeFamily('svc_tasks_open', 'Tasks that have not ended, by status; counted up to 100000 each.', [
      { labels: { status: 'queued' }, value: queued?.n ?? 0 },
      ...claimed,
    ]),
    gaugeFamily(
      'svc_tasks_oldest_queued_seconds',
      'Waiting time of the oldest queued task; 0 if none is queued.',
      ageInSeconds(ctx, oldest),
    ),
    gaugeFamily(
      'svc_runs_parked',
      'Tasks whose run has left its cell: awaiting_approval waits for a decision, running for a replica.',
      parkable.map((status) => ({ labels: { status }, value: active.get(status)?.parked ?? 0 })),
    ),
  ]
}

async function approvalMetrics(ctx: Ctx): Promise<MetricFamily[]> {
  const [pending] = await countPendingApprovals(ctx.db, {})
  const [oldest] = pending?.oldest ? await findApprovalTime(ctx.db, { id: pending.oldest }) : []
  return [
    gaugeFamily('svc_approvals_pending', 'Approvals that wait for a decision.', pending?.n ?? 0),
    gaugeFamily(
      'svc_approvals_oldest_pending_seconds',
      'Waiting time of the oldest pending approval; 0 if none is pending.',
      ageInSeconds(ctx, oldest),
    ),
  ]
}

const ageInSeconds = (ctx: Ctx, row: { created_at: string } | undefined): number =>
  row ? Math.max(0, ctx.world.clock.now() - Date.parse(row.created_at)) / 1000 : 0

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

function poolMetrics({ busy, idle, max, waiting }: PoolUse): MetricFamily[] {
  return [
    gaugeFamily('svc_store_connections', 'Connections of this replica to PostgreSQL, by state.', [
      { labels: { state: 'busy' }, value: busy },
      { labels: { state: 'idle' }, value: idle },
    ]),
    gaugeFamily('svc_store_connections_max', 'The most connections that this replica opens.', max),
    gaugeFamily('svc_store_connections_waiting', 'Statements that wait for a free connection.', waiting),
  ]
}
