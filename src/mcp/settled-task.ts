import { showApproval } from '../approvals/record.ts'
import { listApprovals } from '../approvals/rows.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { watch } from '../ctx/latch.ts'
import type { Tasks } from '../store/tables.ts'
import { showTask } from '../tasks/record.ts'
import { taskRow } from '../tasks/rows.ts'
import { isTerminal } from '../tasks/status.ts'

/** Clients give up on a call after a minute. */
export const MOST_WAIT_S = 50
const POLL_MS = 700

/** The task when it has ended or needs a person, or as it is when the time is over or the caller has gone. */
export async function settledTask(ctx: Ctx, task: Tasks, waitS: number, gone: AbortSignal) {
  const over = new AbortController()
  const cancel = ctx.world.clock.after(waitS * 1000, () => over.abort())
  const signal = AbortSignal.any([gone, over.signal])
  if (waitS === 0) over.abort()
  try {
    // Everything that a task's status does rings for those who watch the project.
    const look = () => settled(ctx, task.id)
    await watch(ctx, { bell: `project:${task.project_id}`, signal, pollMs: POLL_MS, look })
  } finally {
    cancel()
  }
  return shown(ctx, (await taskRow(ctx.db, task.id)) ?? task)
}

async function settled(ctx: Ctx, id: string): Promise<true | null> {
  const task = await taskRow(ctx.db, id)
  return !task || isTerminal(task.status) || task.status === 'awaiting_approval' ? true : null
}

async function shown(ctx: Ctx, row: Tasks) {
  const { id: task_id, status, output, error, cost_usd } = showTask(row, [])
  const filter = { task_id, status: 'pending', limit: 50 }
  const pending = status === 'awaiting_approval' ? await listApprovals(ctx.db, [row.project_id], filter) : []
  const finished = isTerminal(status)
  return { task_id, status, finished, output, error, cost_usd, pending_approvals: pending.map(showApproval) }
}
