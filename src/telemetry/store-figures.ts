import type { Ctx } from '../ctx/ctx.ts'
import { taskRow } from '../tasks/rows.ts'
import { ACTIVE } from '../tasks/status.ts'
import { type Family, gauge } from './exposition.ts'
import { activeTasks, pendingApprovals, pendingNotices, queue } from './rows.ts'

/** What the store holds: the same whichever replica is asked. A store that cannot be asked is told as down. */
export async function storeFigures(ctx: Ctx): Promise<Family[]> {
  const began = performance.now()
  try {
    await ctx.store.ping()
    const pingMs = performance.now() - began
    return [up(1), ...(await openWork(ctx)), ...costs(ctx, pingMs)]
  } catch {
    return [up(0)]
  }
}

const up = (value: number) => gauge('svc_store_up', 'Whether the store answers.', value)

async function openWork(ctx: Ctx): Promise<Family[]> {
  const [queued] = await queue(ctx.db, {})
  const active = new Map((await activeTasks(ctx.db, {})).map(({ status, n }) => [status, n]))
  const [approvals] = await pendingApprovals(ctx.db, {})
  const [notices] = await pendingNotices(ctx.db, {})
  const byStatus = {
    queued: queued?.n ?? 0,
    ...Object.fromEntries(ACTIVE.map((name) => [name, active.get(name) ?? 0])),
  }
  return [
    gauge(
      'svc_tasks_open',
      'Tasks that have not ended, by status; counted up to 100000 each.',
      Object.entries(byStatus).map(([status, value]) => ({ labels: { status }, value })),
    ),
    gauge(
      'svc_tasks_oldest_queued_seconds',
      'How long the oldest queued task waits; 0 when none does.',
      await ageOf(ctx, queued?.oldest ?? null),
    ),
    gauge('svc_approvals_pending', 'Approvals that wait for a person.', approvals?.n ?? 0),
    gauge('svc_webhook_deliveries_pending', 'Notices that wait for their next attempt.', notices?.n ?? 0),
  ]
}

async function ageOf(ctx: Ctx, taskId: string | null): Promise<number> {
  const task = taskId === null ? undefined : await taskRow(ctx.db, taskId)
  return task ? Math.max(0, ctx.world.clock.now() - Date.parse(task.created_at)) / 1000 : 0
}

function costs({ store }: Ctx, pingMs: number): Family[] {
  const commits =
    store.kind === 'sqlite'
      ? [gauge('svc_store_commit_seconds', 'What a commit costs of late, flush included.', store.commitMs() / 1000)]
      : []
  return [gauge('svc_store_ping_seconds', 'How long the store took to answer this reader.', pingMs / 1000), ...commits]
}
