import { conflict, Problem } from '../base/problem.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { EventRow } from '../store/tables.ts'
import { toChunks } from './event-frames.ts'
import type { EventData, NewEvent } from './event-types.ts'
import { insertEvents, updateLastEventId, updateLastEventIdForFeedback } from './rows.ts'

/** The run has lost its lease or has ended, so it can append nothing more. */
export class RunEndedError extends Problem {
  constructor() {
    super(409, 'this run is over')
  }
}

/** Appends to the log of a run. The epoch keeps an earlier run of the task from writing. */
export async function appendEvents(
  tx: Tx,
  run: { taskId: string; epoch: number },
  events: readonly NewEvent[],
): Promise<void> {
  const [head] = await updateLastEventId(tx.db, { id: run.taskId, epoch: run.epoch, count: events.length })
  if (!head) throw new RunEndedError()
  await writeEvents(tx, run.taskId, head.last_event_id, events)
}

/** Appends feedback on a run, which may have ended: the only event that can follow `task.finished`. */
export async function appendFeedbackEvent(tx: Tx, taskId: string, data: EventData['feedback.recorded']): Promise<void> {
  const [head] = await updateLastEventIdForFeedback(tx.db, { id: taskId })
  if (!head) throw conflict('task has not started')
  await writeEvents(tx, taskId, head.last_event_id, [{ type: 'feedback.recorded', data }])
}

/** Writes events whose numbers were reserved by the status change that they record; `last` is the highest. */
export async function writeEvents(tx: Tx, taskId: string, last: number, events: readonly NewEvent[]): Promise<void> {
  const ts = isoNow(tx)
  const first = last - events.length + 1
  const rows: EventRow[] = events.map(({ type, data }, i) => ({
    task_id: taskId,
    seq: first + i,
    type,
    ts,
    data: JSON.stringify(data),
  }))
  await insertEvents(tx.db, rows)
  tx.notify(`log:${taskId}`)
  tx.afterCommit(() => {
    tx.counts.events += rows.length
    if (tx.logFollowers.isFollowed(taskId)) tx.logFollowers.publish(taskId, toChunks(rows))
  })
}
