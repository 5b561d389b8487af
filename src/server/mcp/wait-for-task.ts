import { requireApprover } from '../../approvals/people/approvers.ts'
import { readApprovalViews } from '../../approvals/decisions/read-approvals.ts'
import { listApprovals } from '../../approvals/requests/rows.ts'
import { problemOrThrow } from '../../platform/base/problem.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { waitFor } from '../../platform/ctx/wait-for.ts'
import type { ApprovalRow, TaskRow } from '../../platform/store/tables.ts'
import { toTaskView } from '../../work/tasks/view.ts'
import { findTaskUnscoped } from '../../work/tasks/rows.ts'
import { isTerminalStatus } from '../../work/tasks/status.ts'
import { canShowForm, FormNeeded, type FormState } from './decision-form.ts'
import type { ToolCaller } from './define-tool.ts'

/** MCP clients time out after 60 s. */
export const MAX_WAIT_S = 50
const POLL_MS = 700

/** `decision`: until the task ends or needs an approval. `end`: until it ends, also while people decide. */
export const WAIT_GOALS = ['decision', 'end'] as const

interface TaskWait {
  wait_s: number
  wait_for: (typeof WAIT_GOALS)[number]
}

/**
 * The task as it is when it has ended, needs an approval, the time is over or the caller is gone. While it waits, a client
 * that shows forms gets one for each approval that its user may decide.
 */
export async function waitForTask(caller: ToolCaller, task: TaskRow, { wait_s, wait_for }: TaskWait) {
  const { ctx } = caller
  const waitUntil = caller.startedAt + wait_s * 1000
  const found = await withinTime(caller, waitUntil, (signal) => {
    const check = () => findEndOfWait(caller, task.id, wait_for, waitUntil)
    // Every status change of a task publishes a change of its project.
    return waitFor(ctx, { topic: { topic: 'project-changed', id: task.project_id }, signal, pollMs: POLL_MS, check })
  })
  // A client that does not wait wants to read the task, not to answer a form.
  if (found instanceof FormNeeded && wait_s > 0) return found
  return toTaskResult(ctx, (await findTaskUnscoped(ctx.db, task.id)) ?? task)
}

/** Runs the work with a signal that fires at the given time, or when the caller is gone. */
export async function withinTime<T>(
  { ctx, disconnected }: Pick<ToolCaller, 'ctx' | 'disconnected'>,
  until: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController()
  const ms = until - ctx.world.clock.now()
  const cancel = ms > 0 ? ctx.world.clock.after(ms, () => timeout.abort()) : () => {}
  if (ms <= 0) timeout.abort()
  return work(AbortSignal.any([disconnected, timeout.signal])).finally(cancel)
}

async function findEndOfWait(
  { ctx, scope, forms }: ToolCaller,
  id: string,
  goal: TaskWait['wait_for'],
  waitUntil: number,
): Promise<FormNeeded | 'settled' | null> {
  const task = await findTaskUnscoped(ctx.db, id)
  if (!task || isTerminalStatus(task.status)) return 'settled'
  if (task.status !== 'awaiting_approval') return null
  const approval = forms && (await findDecidableByForm(ctx, scope, task, forms))
  if (forms && approval) return new FormNeeded(approval, { ...forms, task_id: id }, waitUntil)
  return goal === 'decision' ? 'settled' : null
}

/** The oldest pending approval of the task that the caller may decide and whose form was not shown yet. */
async function findDecidableByForm(
  ctx: Ctx,
  scope: Scope,
  task: TaskRow,
  forms: FormState,
): Promise<ApprovalRow | null> {
  for (const row of (await listPending(ctx, task)).toReversed())
    if (canShowForm(row, forms) && (await mayDecide(ctx, scope, row, task))) return row
  return null
}

async function mayDecide(ctx: Ctx, scope: Scope, row: ApprovalRow, task: TaskRow): Promise<boolean> {
  const refusal = await inTx(ctx, (tx) => requireApprover(tx, row, task, scope)).catch(problemOrThrow)
  return refusal === undefined
}

const listPending = (ctx: Ctx, { id, project_id }: TaskRow) =>
  listApprovals(ctx.db, [project_id], { task_id: id, status: 'pending', limit: 50 })

async function toTaskResult(ctx: Ctx, row: TaskRow) {
  const { id: task_id, status, output, error, cost_usd } = toTaskView(row, [])
  const pending = status === 'awaiting_approval' ? await listPending(ctx, row) : []
  const finished = isTerminalStatus(status)
  const pending_approvals = await readApprovalViews(ctx.db, pending)
  return { task_id, status, finished, output, error, cost_usd, pending_approvals }
}
