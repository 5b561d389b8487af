import { appendAuditEntry } from '../../audit/append.ts'
import { conflict } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import type { TaskRow } from '../../platform/store/tables.ts'
import { findTaskUnscoped, lockTask } from '../../work/tasks/rows.ts'
import { isTerminalStatus } from '../../work/tasks/status.ts'
import { closeApprovalsOfTask } from './close-approvals.ts'
import { endTask } from './end-task.ts'

/** Cancels a task. The contract ends a task that waits for an approval as `rejected`, every other as `cancelled`. */
export function cancelTask(ctx: Ctx, scope: ProjectScope, task: TaskRow): Promise<TaskRow> {
  return inTx(ctx, async (tx) => {
    const [current] = await lockTask(tx.db, { id: task.id })
    if (!current || isTerminalStatus(current.status)) throw conflict('task already finished')
    const isWaiting = current.status === 'awaiting_approval'
    const message = isWaiting ? 'the task was cancelled while it waited for an approval' : 'the task was cancelled'
    if (!(await endCancelledTask(tx, scope, current, message))) throw conflict('task already finished')
    const cancelled = await findTaskUnscoped(tx.db, task.id)
    if (!cancelled) throw new Error(`task ${task.id} does not exist`)
    return cancelled
  })
}

/** Ends a task that is locked. False if it had already ended. */
export async function endCancelledTask(
  tx: Tx,
  scope: ProjectScope,
  { id, status }: Pick<TaskRow, 'id' | 'status'>,
  message: string,
): Promise<boolean> {
  const ended =
    status === 'awaiting_approval'
      ? await endWaitingTask(tx, scope, id, message)
      : await endTask(tx, id, { status: 'cancelled', error: { reason: 'cancelled', message } })
  if (ended) await appendAuditEntry(tx, scope.projectId, scope.actor, 'task.cancelled', id)
  return ended
}

async function endWaitingTask(tx: Tx, scope: ProjectScope, taskId: string, message: string): Promise<boolean> {
  const events = await closeApprovalsOfTask(tx, taskId, 'rejected', scope.actor)
  return endTask(tx, taskId, { status: 'rejected', error: { reason: 'rejected', message }, events })
}
