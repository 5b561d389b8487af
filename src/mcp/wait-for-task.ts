import { readApprovalViews } from '../approvals/read-approvals.ts'
import { listApprovals } from '../approvals/rows.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { waitFor } from '../ctx/wait-for.ts'
import type { TaskRow } from '../store/tables.ts'
import { toTaskView } from '../tasks/view.ts'
import { findTaskUnscoped } from '../tasks/rows.ts'
import { isTerminalStatus } from '../tasks/status.ts'

/** MCP clients time out after 60 s. */
export const MAX_WAIT_S = 50
const POLL_MS = 700

/** The task once it has ended or needs an approval, or its current state if the time is over or the caller is gone. */
export async function waitForTask(ctx: Ctx, task: TaskRow, waitS: number, disconnected: AbortSignal) {
  const timeout = new AbortController()
  const cancel = ctx.world.clock.after(waitS * 1000, () => timeout.abort())
  const signal = AbortSignal.any([disconnected, timeout.signal])
  if (waitS === 0) timeout.abort()
  try {
    // Every status change of a task notifies the subscribers of its project.
    const check = () => isSettled(ctx, task.id)
    await waitFor(ctx, { topic: { topic: 'project-changed', id: task.project_id }, signal, pollMs: POLL_MS, check })
  } finally {
    cancel()
  }
  return toTaskResult(ctx, (await findTaskUnscoped(ctx.db, task.id)) ?? task)
}

async function isSettled(ctx: Ctx, id: string): Promise<true | null> {
  const task = await findTaskUnscoped(ctx.db, id)
  return !task || isTerminalStatus(task.status) || task.status === 'awaiting_approval' ? true : null
}

async function toTaskResult(ctx: Ctx, row: TaskRow) {
  const { id: task_id, status, output, error, cost_usd } = toTaskView(row, [])
  const filter = { task_id, status: 'pending', limit: 50 }
  const pending = status === 'awaiting_approval' ? await listApprovals(ctx.db, [row.project_id], filter) : []
  const finished = isTerminalStatus(status)
  const pending_approvals = await readApprovalViews(ctx.db, pending)
  return { task_id, status, finished, output, error, cost_usd, pending_approvals }
}
