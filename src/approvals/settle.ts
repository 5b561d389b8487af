import { audit } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { EndReason } from '../ctx/live.ts'
import { type Actor, type ProjectScope, SYSTEM } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { changed } from '../events/changes.ts'
import type { NewEvent } from '../events/types.ts'
import type { Tasks } from '../store/tables.ts'
import { type Ending, end } from '../tasks/end.ts'
import { taskRow } from '../tasks/rows.ts'
import { type HeldTask, holdTask } from '../tasks/state-rows.ts'
import { before, isTerminal } from '../tasks/status.ts'
import { closePending, decidedAs, dueApprovals } from './rows.ts'

/**
 * Ends a task and whatever it still asks. False when it was over already. The run itself, if it lives here, hears of it
 * after the commit; on another replica the bell tells.
 */
export async function endTask(tx: Tx, taskId: string, ending: Ending, epoch?: number): Promise<boolean> {
  if (!(await end(tx, taskId, await withOpenQuestions(tx, taskId, ending, epoch), epoch))) return false
  tx.afterCommit(() => tx.live.get(taskId)?.end(endReason(ending)))
  return true
}

/** The ending with the end of what the task still asks. */
async function withOpenQuestions(tx: Tx, taskId: string, ending: Ending, epoch?: number): Promise<Ending> {
  // Only a task that waits can have open questions, and from there nobody comes to these two ends.
  if (ending.status === 'succeeded' || ending.status === 'cancelled') return ending
  const [task] = await holdTask(tx.db, { id: taskId })
  if (!task || !before(ending.status).some((status) => status === task.status)) return ending
  if (epoch !== undefined && epoch !== task.epoch) return ending
  const closed = await close(tx, taskId, ending.status === 'rejected' ? 'rejected' : 'expired', SYSTEM)
  return { ...ending, events: [...(ending.events ?? []), ...closed] }
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
  return endTask(tx, task.id, {
    status: 'rejected',
    error: { reason: 'rejected', message: 'the task was cancelled while it waited for an approval' },
    events: closed,
  })
}

/** Expires what nobody answered in time. Run by every replica; each row is ended once. Answers how many. */
export async function expireDue(ctx: Ctx): Promise<number> {
  const due = await dueApprovals(ctx.db, { now: isoNow(ctx) })
  for (const { id, task_id } of due) {
    await inTx(ctx, async (tx) => {
      await holdTask(tx.db, { id: task_id })
      const [now] = await decidedAs(tx.db, { id })
      // Decided while we looked.
      if (now?.status !== 'pending') return
      const ended = await endTask(tx, task_id, {
        status: 'expired',
        error: { reason: 'expired', message: 'nobody decided in time; POST /v1/tasks/:id/retry runs it again' },
      })
      // A task that is over, by whatever race, keeps no open question.
      if (!ended) await close(tx, task_id, 'expired', SYSTEM)
    })
  }
  return due.length
}

/** Closes what a task still asks, and answers the events that tell of it: what expires is told by the end alone. */
async function close(tx: Tx, taskId: string, status: 'rejected' | 'expired', by: Actor): Promise<NewEvent[]> {
  const decided_at = isoNow(tx)
  const closed = await closePending(tx.db, { task_id: taskId, status, decided_at, by_kind: by.kind, by_id: by.id })
  for (const { id, project_id, action } of closed) {
    tx.ring(`approval:${id}`)
    changed(tx, project_id, { kind: 'approval', id, status })
    await audit(tx, project_id, by, `approval.${status}`, id, { action, task_id: taskId })
  }
  return status === 'expired' ? [] : closed.map((row) => rejection(row, by))
}

function rejection({ id, action }: { id: string; action: string }, { kind, id: by }: Actor): NewEvent {
  return {
    type: 'approval.resolved',
    data: { approval_id: id, action, decision: 'rejected', decided_by: { kind, id: by } },
  }
}

function endReason({ status }: Ending): EndReason {
  return status === 'rejected' || status === 'expired' || status === 'cancelled' ? status : 'interrupted'
}
