import { updateThreadUnansweredByTask } from '../../customers/threads/thread-state-rows.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { RunEndReason } from '../../platform/ctx/live-runs.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { lockTask } from '../../work/tasks/rows.ts'
import { closeApprovalsOfTask } from './close-approvals.ts'
import { deleteRunState } from './run-state-rows.ts'
import { statusesBefore } from './states.ts'
import { type TaskEnding, writeTaskEnding } from './task-ending.ts'

/**
 * Ends a task, closes its pending approvals and stops its run. False if the task had already ended, or if `epoch` is
 * given and the task was claimed again since. A run on another replica is stopped by the change hint `task-ended`.
 */
export async function endTask(tx: Tx, taskId: string, ending: TaskEnding, epoch?: number): Promise<boolean> {
  if (!(await writeTaskEnding(tx, taskId, await withClosedApprovals(tx, taskId, ending, epoch), epoch))) return false
  // A run that succeeds deletes its own state, which saves other runs a statement.
  if (ending.status !== 'succeeded') await deleteRunState(tx.db, { task_id: taskId })
  tx.afterCommit(() => tx.liveRuns.get(taskId)?.end(toEndReason(ending)))
  return true
}

/** Closes the pending approvals of the task and adds the events of that to the ending. */
async function withClosedApprovals(tx: Tx, taskId: string, ending: TaskEnding, epoch?: number): Promise<TaskEnding> {
  // Only a waiting task has pending approvals, and a waiting task cannot end in these two ways.
  if (ending.status === 'succeeded' || ending.status === 'cancelled') return ending
  const [task] = await lockTask(tx.db, { id: taskId })
  if (!task || !statusesBefore(ending.status).some((status) => status === task.status)) return ending
  if (epoch !== undefined && epoch !== task.epoch) return ending
  // Before the approvals are closed, because every writer locks a thread before the audit log.
  if (task.thread_id !== null) await markUnanswered(tx, task.thread_id, taskId, ending.status)
  const approvalStatus = ending.status === 'rejected' ? 'rejected' : 'expired'
  // The API has no status for an approval whose task failed before its time was over, so the reason says it.
  const reason = ending.status === 'failed' ? `the task failed before a decision: ${ending.error.message}` : null
  const closed = await closeApprovalsOfTask(tx, taskId, approvalStatus, SYSTEM_ACTOR, reason)
  return { ...ending, events: [...(ending.events ?? []), ...closed] }
}

/** No run will answer the client, so a person has to. */
async function markUnanswered(tx: Tx, id: string, task_id: string, reason: string): Promise<void> {
  const [thread] = await updateThreadUnansweredByTask(tx.db, { id, at: isoNow(tx), reason, task_id })
  if (thread) publishProjectChange(tx, thread.project_id, { kind: 'thread', id, status: thread.status })
}

function toEndReason({ status }: TaskEnding): RunEndReason {
  return status === 'rejected' || status === 'expired' || status === 'cancelled' ? status : 'interrupted'
}
