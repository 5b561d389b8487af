import { countStoredBytes } from '../../identity/limits/storage-usage.ts'
import { conflict, Problem } from '../../platform/base/problem.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { EventRow, TaskRow } from '../../platform/store/tables.ts'
import { toChunks } from './event-frames.ts'
import type { EventData, NewEvent } from './event-types.ts'
import {
  insertEvents,
  sumEventBytesAfter,
  updateCountedEvents,
  updateLastEventId,
  updateLastEventIdForFeedback,
} from './rows.ts'

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
  if (head.last_event_id - head.counted_events > MAX_UNCOUNTED_EVENTS) await countEvents(tx, run.taskId, head)
}

/** The end of a task counts the rest of its log, and counting more events at once would block other requests. */
const MAX_UNCOUNTED_EVENTS = 10_000

async function countEvents(
  tx: Tx,
  taskId: string,
  { project_id, last_event_id, counted_events }: Pick<TaskRow, 'project_id' | 'last_event_id' | 'counted_events'>,
): Promise<void> {
  const [added] = await sumEventBytesAfter(tx.db, { task_id: taskId, seq: counted_events })
  countStoredBytes(tx, project_id, added?.bytes ?? 0)
  await updateCountedEvents(tx.db, { id: taskId, counted_events: last_event_id })
}

/** Appends feedback on a run, which may have ended: the only event that can follow `task.finished`. */
export async function appendFeedbackEvent(tx: Tx, taskId: string, data: EventData['feedback.recorded']): Promise<void> {
  const [head] = await updateLastEventIdForFeedback(tx.db, { id: taskId })
  if (!head) throw conflict('task has not started')
  const bytes = await writeEvents(tx, taskId, head.last_event_id, [{ type: 'feedback.recorded', data }])
  // The log of a running task is counted when the task ends.
  if (head.finished_at !== null) countStoredBytes(tx, head.project_id, bytes)
}

/**
 * Writes events whose numbers were reserved by the status change that they record; `last` is the highest. Returns the
 * bytes of their data.
 */
export async function writeEvents(tx: Tx, taskId: string, last: number, events: readonly NewEvent[]): Promise<number> {
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
  tx.publishAfterCommit({ topic: 'log-appended', id: taskId })
  tx.afterCommit(() => {
    tx.counts.events += rows.length
    if (tx.logFollowers.isFollowed(taskId)) tx.logFollowers.publish(taskId, toChunks(rows))
  })
  return rows.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0)
}
