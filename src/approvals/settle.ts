import { audit } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { EndReason } from '../ctx/live.ts'
import { type Actor, type ProjectScope, SYSTEM } from '../ctx/scope.ts'
import { isoTime } from '../ctx/world.ts'
import { changed } from '../events/changes.ts'
import type { NewEvent } from '../events/types.ts'
import type { Tasks } from '../store/tables.ts'
import { type Ending, end } from '../tasks/end.ts'
import { taskRow } from '../tasks/rows.ts'
import { type HeldTask, holdTask } from '../tasks/state-rows.ts'
import { isTerminal } from '../tasks/status.ts'
import { closePending, dueApprovals } from './rows.ts'

/**
 * Ends a task and whatever it still asks. False when it was over already. The run itself, if it lives here, hears of it
 * after the commit; on another replica the bell tells.
 */
export async function endTask(tx: Tx, taskId: string, ending: Ending, epoch?: number): Promise<boolean> {
  if (!(await end(tx, taskId, ending, epoch))) return false
  // Only a task that waits can have open questions, and from there nobody comes to the other two ends.
  if (ending.status !== 'succeeded' && ending.status !== 'cancelled') {
    await closeAll(tx, taskId, ending.status === 'rejected' ? 'rejected' : 'expired')
  }
  tx.afterCommit(() => tx.live.get(taskId)?.end(endReason(ending)))
  return true
}

/** The founder's cancel. A task that waits for a person is settled as rejected, as the contract says. */
export function cancelTask(ctx: Ctx, scope: ProjectScope, task: Tasks): Promise<Tasks> {
  return inTx(ctx, async (tx) => {
    const [now] = await holdTask(tx.db, { id: task.id })
    if (!now || isTerminal(now.status)) throw conflict('task already finished')
    const ended =
      now.status === 'awaiting_approval' ? await cancelWaiting(tx, scope, now) : await cancelRunning(tx, now)
    if (!ended) throw conflict('task already finished')
    await audit(tx, task.project_id, scope.actor, 'task.cancelled', task.id)
    const after = await taskRow(tx.db, task.id)
    if (!after) throw new Error(`task ${task.id} is gone`)
    return after
  })
}

function cancelRunning(tx: Tx, task: HeldTask): Promise<boolean> {
  return endTask(tx, task.id, {
    status: 'cancelled',
    error: { reason: 'cancelled', message: 'the task was cancelled' },
  })
}

async function cancelWaiting(tx: Tx, scope: ProjectScope, task: HeldTask): Promise<boolean> {
  const closed = await close(tx, task.id, 'rejected', scope.actor)
  const ended = await endTask(tx, task.id, {
    status: 'rejected',
    error: { reason: 'rejected', message: 'the task was cancelled while it waited for an approval' },
    events: closed.map(
      ({ id, action }): NewEvent => ({
        type: 'approval.resolved',
        data: { approval_id: id, action, decision: 'rejected', decided_by: { ...scope.actor } },
      }),
    ),
  })
  if (ended) await tellClosed(tx, task.id, closed, 'rejected', scope.actor)
  return ended
}

/** Expires what nobody answered in time. Run by every replica; each row is ended once. Answers how many. */
export async function expireDue(ctx: Ctx): Promise<number> {
  const due = await dueApprovals(ctx.db, { now: isoTime(ctx.world.clock.now()) })
  for (const { task_id } of due) {
    await inTx(ctx, async (tx) => {
      const ended = await endTask(tx, task_id, {
        status: 'expired',
        error: { reason: 'expired', message: 'nobody decided in time; POST /v1/tasks/:id/retry runs it again' },
      })
      // A task that is over, by whatever race, keeps no open question.
      if (!ended) await closeAll(tx, task_id, 'expired')
    })
  }
  return due.length
}

/** Nobody's decision: the questions end with their task. */
async function closeAll(tx: Tx, taskId: string, status: 'rejected' | 'expired'): Promise<void> {
  await tellClosed(tx, taskId, await close(tx, taskId, status, SYSTEM), status, SYSTEM)
}

type Closed = Awaited<ReturnType<typeof close>>

/** In the audit, as every other decision. */
async function tellClosed(tx: Tx, taskId: string, closed: Closed, status: 'rejected' | 'expired', actor: Actor) {
  for (const { id, project_id, action } of closed) {
    await audit(tx, project_id, actor, `approval.${status}`, id, { action, task_id: taskId })
  }
}

async function close(tx: Tx, taskId: string, status: 'rejected' | 'expired', { kind, id }: Actor) {
  const decided_at = isoTime(tx.world.clock.now())
  const closed = await closePending(tx.db, { task_id: taskId, status, decided_at, by_kind: kind, by_id: id })
  for (const row of closed) {
    tx.ring(`approval:${row.id}`)
    changed(tx, row.project_id, { kind: 'approval', id: row.id, status })
  }
  return closed
}

function endReason({ status }: Ending): EndReason {
  return status === 'rejected' || status === 'expired' || status === 'cancelled' ? status : 'interrupted'
}
