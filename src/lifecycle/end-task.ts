import { appendAuditEntry } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { RunEndReason } from '../ctx/live-runs.ts'
import { type Actor, type ProjectScope, SYSTEM_ACTOR } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import type { NewEvent } from '../events/event-types.ts'
import type { TaskRow } from '../store/tables.ts'
import { type TaskEnding, writeTaskEnding } from './task-ending.ts'
import { findTaskUnscoped } from '../tasks/rows.ts'
import { type LockedTask, lockTask } from './rows.ts'
import { statusesBefore, isTerminalStatus } from '../tasks/status.ts'
import { updatePendingApprovalsClosed, findApprovalDecision, listDueApprovals } from '../approvals/rows.ts'

/**
 * Ends a task and whatever it still asks. False when it was over already. The run itself, if it lives here, hears of it
 * after the commit; on another replica the bell tells.
 */
export async function endTask(tx: Tx, taskId: string, ending: TaskEnding, epoch?: number): Promise<boolean> {
  if (!(await writeTaskEnding(tx, taskId, await withClosedApprovals(tx, taskId, ending, epoch), epoch))) return false
  tx.afterCommit(() => tx.liveRuns.get(taskId)?.end(toEndReason(ending)))
  return true
}

/** The ending with the end of what the task still asks. */
async function withClosedApprovals(tx: Tx, taskId: string, ending: TaskEnding, epoch?: number): Promise<TaskEnding> {
  // Only a task that waits can have open questions, and from there nobody comes to these two ends.
  if (ending.status === 'succeeded' || ending.status === 'cancelled') return ending
  const [task] = await lockTask(tx.db, { id: taskId })
  if (!task || !statusesBefore(ending.status).some((status) => status === task.status)) return ending
  if (epoch !== undefined && epoch !== task.epoch) return ending
  const closed = await closeApprovalsOfTask(
    tx,
    taskId,
    ending.status === 'rejected' ? 'rejected' : 'expired',
    SYSTEM_ACTOR,
  )
  return { ...ending, events: [...(ending.events ?? []), ...closed] }
}

/** The founder's cancel. A task that waits for a person is settled as rejected, as the contract says. */
export function cancelTask(ctx: Ctx, scope: ProjectScope, task: TaskRow): Promise<TaskRow> {
  return inTx(ctx, async (tx) => {
    const [now] = await lockTask(tx.db, { id: task.id })
    if (!now || isTerminalStatus(now.status)) throw conflict('task already finished')
    const ended =
      now.status === 'awaiting_approval' ? await cancelWaiting(tx, scope, now) : await cancelUnlessWaiting(tx, now)
    if (!ended) throw conflict('task already finished')
    await appendAuditEntry(tx, task.project_id, scope.actor, 'task.cancelled', task.id)
    const after = await findTaskUnscoped(tx.db, task.id)
    if (!after) throw new Error(`task ${task.id} is gone`)
    return after
  })
}

function cancelUnlessWaiting(tx: Tx, task: LockedTask): Promise<boolean> {
  return endTask(tx, task.id, {
    status: 'cancelled',
    error: { reason: 'cancelled', message: 'the task was cancelled' },
  })
}

async function cancelWaiting(tx: Tx, scope: ProjectScope, task: LockedTask): Promise<boolean> {
  const closed = await closeApprovalsOfTask(tx, task.id, 'rejected', scope.actor)
  return endTask(tx, task.id, {
    status: 'rejected',
    error: { reason: 'rejected', message: 'the task was cancelled while it waited for an approval' },
    events: closed,
  })
}

/** Expires what nobody answered in time. Run by every replica; each row is ended once. Answers how many. */
export async function expireDueApprovals(ctx: Ctx): Promise<number> {
  const due = await listDueApprovals(ctx.db, { now: isoNow(ctx) })
  for (const { id, task_id } of due) {
    await inTx(ctx, async (tx) => {
      await lockTask(tx.db, { id: task_id })
      const [now] = await findApprovalDecision(tx.db, { id })
      // Decided while we looked.
      if (now?.status !== 'pending') return
      const ended = await endTask(tx, task_id, {
        status: 'expired',
        error: { reason: 'expired', message: 'nobody decided in time; POST /v1/tasks/:id/retry runs it again' },
      })
      // A task that is over, by whatever race, keeps no open question.
      if (!ended) await closeApprovalsOfTask(tx, task_id, 'expired', SYSTEM_ACTOR)
    })
  }
  return due.length
}

/** Closes what a task still asks, and answers the events that tell of it: what expires is told by the end alone. */
async function closeApprovalsOfTask(
  tx: Tx,
  taskId: string,
  status: 'rejected' | 'expired',
  by: Actor,
): Promise<NewEvent[]> {
  const decided_at = isoNow(tx)
  const closed = await updatePendingApprovalsClosed(tx.db, {
    task_id: taskId,
    status,
    decided_at,
    by_kind: by.kind,
    by_id: by.id,
  })
  for (const { id, project_id, action } of closed) {
    tx.notify({ topic: 'approval-decided', id })
    notifyProjectChange(tx, project_id, { kind: 'approval', id, status })
    await appendAuditEntry(tx, project_id, by, `approval.${status}`, id, { action, task_id: taskId })
  }
  return status === 'expired' ? [] : closed.map((row) => rejectedEvent(row, by))
}

function rejectedEvent({ id, action }: { id: string; action: string }, { kind, id: by }: Actor): NewEvent {
  return {
    type: 'approval.resolved',
    data: { approval_id: id, action, decision: 'rejected', decided_by: { kind, id: by } },
  }
}

function toEndReason({ status }: TaskEnding): RunEndReason {
  return status === 'rejected' || status === 'expired' || status === 'cancelled' ? status : 'interrupted'
}
