import { conflict } from '../base/problem.ts'
import type { Tx } from '../ctx/ctx.ts'
import { RunEndedError, writeEvents } from '../events/append-events.ts'
import type { NewEvent } from '../events/event-types.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import type { LockedTask } from '../tasks/rows.ts'
import { updateTaskResumed, updateTaskWaiting } from './rows.ts'

/** Makes a running task wait for an approval. The agent keeps its cell and its call stays open until the decision. */
export async function parkTask(
  tx: Tx,
  run: { taskId: string; epoch: number; projectId: string },
  requested: NewEvent,
): Promise<void> {
  const [task] = await updateTaskWaiting(tx.db, { id: run.taskId, epoch: run.epoch })
  if (!task) throw new RunEndedError()
  await writeEvents(tx, run.taskId, task.last_event_id, [requested])
  notifyProjectChange(tx, run.projectId, { kind: 'task', id: run.taskId, status: 'awaiting_approval' })
}

/** Lets a waiting task run again after an approval. It keeps waiting while another of its approvals is pending. */
export async function resumeTask(tx: Tx, { id, epoch, project_id }: LockedTask, events: NewEvent[]): Promise<void> {
  const [task] = await updateTaskResumed(tx.db, { id, epoch, count: events.length })
  if (!task) throw conflict('task already finished')
  await writeEvents(tx, id, task.last_event_id, events)
  notifyProjectChange(tx, project_id, { kind: 'task', id, status: task.status })
}
