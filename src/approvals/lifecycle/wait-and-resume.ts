import { conflict } from '../../platform/base/problem.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { RunEndedError, writeEvents } from '../../work/events/append-events.ts'
import type { NewEvent } from '../../work/events/event-types.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import type { LockedTask } from '../../work/tasks/rows.ts'
import { updateTaskReleased, updateTaskResumed, updateTaskWaiting, updateWaitingTaskReleased } from './rows.ts'

/** Makes a running task wait for an approval. Its replica keeps it until the run is parked (`execution/runs/resume/park-run.ts`). */
export async function makeTaskWait(
  tx: Tx,
  run: { taskId: string; epoch: number; projectId: string },
  requested: NewEvent,
): Promise<void> {
  const [task] = await updateTaskWaiting(tx.db, { id: run.taskId, epoch: run.epoch })
  if (!task) throw new RunEndedError()
  await writeEvents(tx, run.taskId, task.last_event_id, [requested])
  publishProjectChange(tx, run.projectId, { kind: 'task', id: run.taskId, status: 'awaiting_approval' })
}

const parked = (text: string): NewEvent => ({ type: 'progress', data: { text, state: 'parked' } })
const PARKED = parked('Waiting for a decision')
const PARKED_WHILE_RUNNING = parked('Waiting for a replica to continue the run')

/**
 * Takes a waiting task from the replica that executes it. The task keeps waiting, and any replica can continue it after
 * the decision. False if the decision came first.
 */
export async function releaseWaitingTask(tx: Tx, run: { taskId: string; epoch: number }): Promise<boolean> {
  const [task] = await updateWaitingTaskReleased(tx.db, { id: run.taskId, epoch: run.epoch })
  if (task) await writeEvents(tx, run.taskId, task.last_event_id, [PARKED])
  return task !== undefined
}

/** Takes a task from a replica that cannot continue it. A task that does not wait can continue at once. */
export async function releaseTask(tx: Tx, run: { taskId: string; epoch: number }): Promise<boolean> {
  const [task] = await updateTaskReleased(tx.db, { id: run.taskId, epoch: run.epoch })
  if (!task) return false
  await writeEvents(tx, run.taskId, task.last_event_id, [task.status === 'running' ? PARKED_WHILE_RUNNING : PARKED])
  if (task.status === 'running') tx.publishAfterCommit({ topic: 'task-queued' })
  return true
}

/** Lets a waiting task run again after an approval. It keeps waiting while another of its approvals is pending. */
export async function resumeTask(tx: Tx, locked: LockedTask, events: NewEvent[]): Promise<void> {
  const { id, epoch, project_id } = locked
  const [task] = await updateTaskResumed(tx.db, { id, epoch, count: events.length })
  if (!task) throw conflict('task already finished')
  await writeEvents(tx, id, task.last_event_id, events)
  publishProjectChange(tx, project_id, { kind: 'task', id, status: task.status })
  // No replica executes a parked task, so the next one with a free slot claims it.
  if (locked.replica === null && task.status === 'running') tx.publishAfterCommit({ topic: 'task-queued' })
}
