import type { Json } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { writeEvents } from '../events/append-events.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import { queueWebhookDeliveries } from '../events/webhook-events.ts'
import type { NewEvent } from '../events/event-types.ts'
import { updateTaskEnded, type EndedTask } from './rows.ts'
import type { TaskError, TerminalStatus } from '../tasks/status.ts'

export type TaskEnding =
  | { status: 'succeeded'; output: Json; events: NewEvent[] }
  | { status: Exclude<TerminalStatus, 'succeeded'>; error: TaskError; output?: Json; events?: NewEvent[] }

/**
 * Ends a task: its last status, its last events, once. False when the task is over already, cannot end that way from
 * where it is, or belongs to a later epoch than the run that asks.
 */
export async function writeTaskEnding(
  tx: Tx,
  id: string,
  ending: TaskEnding,
  epoch: number | null = null,
): Promise<boolean> {
  const finished_at = isoNow(tx)
  const error = ending.status === 'succeeded' ? null : ending.error
  const told = ending.events ?? []
  const [task] = await END_STATEMENTS[ending.status](tx.db, {
    id,
    epoch,
    output: ending.output === undefined ? null : JSON.stringify(ending.output),
    error: error && JSON.stringify(error),
    count: told.length + 1,
    finished_at,
  })
  if (!task) return false
  const opening = task.started_at === null ? [createdEvent(task)] : []
  const events = [...opening, ...told, finishedEvent(task, ending.status, error, finished_at)]
  await writeEvents(tx, id, task.last_event_id, events)
  if (task.heard) await queueWebhookDeliveries(tx, task.project_id, 'task.finished', id)
  tx.notify({ topic: 'task-ended', id })
  notifyProjectChange(tx, task.project_id, { kind: 'task', id, status: ending.status })
  return true
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

/** A task that ends before it ran still has a log that begins with `task.created`. */
function createdEvent({ wedge, task_type }: EndedTask): NewEvent {
  return { type: 'task.created', data: { wedge, task_type, status: 'running', sandbox: 'none', model: 'none' } }
}
