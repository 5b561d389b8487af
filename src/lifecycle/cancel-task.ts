import { appendAuditEntry } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import type { TaskRow } from '../store/tables.ts'
import { findTaskUnscoped, lockTask } from '../tasks/rows.ts'
import { isTerminalStatus } from '../tasks/status.ts'
import { closeApprovalsOfTask } from './close-approvals.ts'
import { endTask } from './end-task.ts'

/** Cancels a task. The contract ends a task that waits for an approval as `rejected`, every other as `cancelled`. */
export function cancelTask(ctx: Ctx, scope: ProjectScope, task: TaskRow): Promise<TaskRow> {
  return inTx(ctx, async (tx) => {
    const [current] = await lockTask(tx.db, { id: task.id })
    if (!current || isTerminalStatus(current.status)) throw conflict('task already finished')
    const isWaiting = current.status === 'awaiting_approval'
    const ended = isWaiting ? await cancelWaiting(tx, scope, task.id) : await cancelRunning(tx, task.id)
    if (!ended) throw conflict('task already finished')
    await appendAuditEntry(tx, task.project_id, scope.actor, 'task.cancelled', task.id)
    const cancelled = await findTaskUnscoped(tx.db, task.id)
    if (!cancelled) throw new Error(`task ${task.id} does not exist`)
    return cancelled
  })
}

function cancelRunning(tx: Tx, taskId: string): Promise<boolean> {
  const error = { reason: 'cancelled', message: 'the task was cancelled' } as const
  return endTask(tx, taskId, { status: 'cancelled', error })
}

async function cancelWaiting(tx: Tx, scope: ProjectScope, taskId: string): Promise<boolean> {
  const events = await closeApprovalsOfTask(tx, taskId, 'rejected', scope.actor)
  const message = 'the task was cancelled while it waited for an approval'
  return endTask(tx, taskId, { status: 'rejected', error: { reason: 'rejected', message }, events })
}
