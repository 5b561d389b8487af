import type { Json } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { write } from '../events/append.ts'
import { changed } from '../events/changes.ts'
import { notice } from '../events/notices.ts'
import type { NewEvent } from '../events/types.ts'
import { endAs, type Ended } from './state-rows.ts'
import type { TaskError, TerminalStatus } from './status.ts'

export type Ending =
  | { status: 'succeeded'; output: Json; events: NewEvent[] }
  | { status: Exclude<TerminalStatus, 'succeeded'>; error: TaskError; output?: Json; events?: NewEvent[] }

/**
 * Ends a task: its last status, its last events, once. False when the task is over already, cannot end that way from
 * where it is, or belongs to a later epoch than the run that asks.
 */
export async function end(tx: Tx, id: string, ending: Ending, epoch: number | null = null): Promise<boolean> {
  const finished_at = isoNow(tx)
  const error = ending.status === 'succeeded' ? null : ending.error
  const told = ending.events ?? []
  const [task] = await END[ending.status](tx.db, {
    id,
    epoch,
    output: ending.output === undefined ? null : JSON.stringify(ending.output),
    error: error && JSON.stringify(error),
    count: told.length + 1,
    finished_at,
  })
  if (!task) return false
  const opening = task.started_at === null ? [neverRan(task)] : []
  const events = [...opening, ...told, finished(task, ending.status, error, finished_at)]
  await write(tx, id, task.last_event_id, events)
  if (task.heard) await notice(tx, task.project_id, 'task.finished', id)
  tx.ring(`task:${id}`)
  changed(tx, task.project_id, { kind: 'task', id, status: ending.status })
  return true
}

const END = {
  succeeded: endAs('succeeded'),
  failed: endAs('failed'),
  rejected: endAs('rejected'),
  expired: endAs('expired'),
  cancelled: endAs('cancelled'),
} satisfies Record<TerminalStatus, unknown>

function finished(task: Ended, status: TerminalStatus, error: TaskError | null, at: string): NewEvent {
  const duration_ms = Math.max(0, Date.parse(at) - Date.parse(task.started_at ?? task.created_at))
  return { type: 'task.finished', data: { status, ...(error && { error }), duration_ms } }
}

/** A task that ends before it ran still has a log that begins with `task.created`. */
function neverRan({ wedge, task_type }: Ended): NewEvent {
  return { type: 'task.created', data: { wedge, task_type, status: 'running', sandbox: 'none', model: 'none' } }
}
