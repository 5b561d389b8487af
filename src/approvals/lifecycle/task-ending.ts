import { countStoredBytes } from '../../identity/limits/storage-usage.ts'
import type { Json } from '../../platform/base/json.ts'
import type { Counts } from '../../platform/ctx/counts.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { addDuration } from '../../platform/ctx/histogram.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { writeEvents } from '../../work/events/append-events.ts'
import type { NewEvent } from '../../work/events/event-types.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { queueWebhookDeliveries } from '../../work/events/webhook-events.ts'
import type { TaskError, TerminalStatus } from '../../work/tasks/status.ts'
import { addEndedTaskToReports } from './add-to-reports.ts'
import { type EndedTask, updateTaskEnded } from './rows.ts'

/** How a task ends. `events` come right before `task.finished` in its log. */
export type TaskEnding =
  | { status: 'succeeded'; output: Json; events: NewEvent[] }
  | { status: Exclude<TerminalStatus, 'succeeded'>; error: TaskError; output?: Json; events?: NewEvent[] }

/**
 * Writes the last status and the last events of a task, once. False if the task has ended, cannot end this way from its
 * status, or has a newer epoch than the run that calls. `endTask` is the function to call: it closes approvals too.
 */
export async function writeTaskEnding(
  tx: Tx,
  id: string,
  ending: TaskEnding,
  epoch: number | null = null,
): Promise<boolean> {
  const finished_at = isoNow(tx)
  const error = ending.status === 'succeeded' ? null : ending.error
  const events = ending.events ?? []
  const [task] = await END_STATEMENTS[ending.status](tx.db, {
    id,
    epoch,
    output: ending.output === undefined ? null : JSON.stringify(ending.output),
    error: error && JSON.stringify(error),
    count: events.length + 1,
    finished_at,
  })
  if (!task) return false
  const opening = task.started_at === null ? [createdEvent(task)] : []
  const closing = finishedEvent(task, ending.status, error, finished_at)
  const bytes = await writeEvents(tx, id, task.last_event_id, [...opening, ...events, closing])
  countStoredBytes(tx, task.project_id, task.event_bytes + bytes)
  addEndedTaskToReports(tx, { ...task, id, status: ending.status })
  if (task.has_subscribed_webhook) await queueWebhookDeliveries(tx, task.project_id, 'task.finished', id)
  tx.afterCommit(() => countEndedTask(tx.counts, task, ending, finished_at))
  tx.publishAfterCommit({ topic: 'task-ended', id })
  publishProjectChange(tx, task.project_id, { kind: 'task', id, status: ending.status })
  // The next task of the thread may start on any replica.
  if (task.thread_id !== null) tx.publishAfterCommit({ topic: 'task-queued' })
  return true
}

function countEndedTask({ tasks, failures }: Counts, task: EndedTask, ending: TaskEnding, finished_at: string): void {
  const ms = Math.max(0, Date.parse(finished_at) - Date.parse(task.created_at))
  addDuration(tasks.at({ wedge: task.wedge, status: ending.status }).times, ms)
  if (ending.status === 'failed') failures.at({ wedge: task.wedge, reason: ending.error.reason }).tasks++
}

const END_STATEMENTS = {
  succeeded: updateTaskEnded('succeeded'),
  failed: updateTaskEnded('failed'),
  rejected: updateTaskEnded('rejected'),
  expired: updateTaskEnded('expired'),
  cancelled: updateTaskEnded('cancelled'),
} satisfies Record<TerminalStatus, unknown>

function finishedEvent(task: EndedTask, status: TerminalStatus, error: TaskError | null, at: string): NewEvent {
  const duration_ms = Math.max(0, Date.parse(at) - Date.parse(task.started_at ?? task.created_at))
  return { type: 'task.finished', data: { status, ...(error && { error }), duration_ms } }
}

/** Every log begins with `task.created`, also the log of a task that ended before it ran. */
function createdEvent({ wedge, task_type }: EndedTask): NewEvent {
  return { type: 'task.created', data: { wedge, task_type, status: 'running', sandbox: 'none', model: 'none' } }
}
