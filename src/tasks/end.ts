import type { Json } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { write } from '../events/append.ts'
import { changed } from '../events/changes.ts'
import { notice } from '../events/notices.ts'
import type { NewEvent } from '../events/types.ts'
import type { Tasks } from '../store/tables.ts'
import { taskRow } from './rows.ts'
import { endTask } from './state-rows.ts'
import { isTerminal, mayMove, type TaskError, type TerminalStatus } from './status.ts'

export type Ending =
  | { status: 'succeeded'; output: Json; events: NewEvent[] }
  | { status: Exclude<TerminalStatus, 'succeeded'>; error: TaskError; output?: Json; events?: NewEvent[] }

/**
 * Ends a task: its last status, its last events, once. Answers the row as it was before, or null when the task is
 * over already, or belongs to a later epoch than the run that asks.
 */
export async function end(tx: Tx, id: string, ending: Ending, epoch?: number): Promise<Tasks | null> {
  for (;;) {
    const task = await taskRow(tx.db, id)
    if (!task || isTerminal(task.status) || (epoch !== undefined && task.epoch !== epoch)) return null
    if (!mayMove(task.status, ending.status)) return null
    if (await tryEnd(tx, task, ending)) return task
    // Another event was appended since we looked: look again.
  }
}

async function tryEnd(tx: Tx, task: Tasks, ending: Ending): Promise<boolean> {
  const finishedAt = isoTime(tx.world.clock.now())
  const error = ending.status === 'succeeded' ? null : ending.error
  const events = [
    ...(task.last_event_id === 0 ? [neverRan(task)] : []),
    ...(ending.events ?? []),
    finished(task, ending.status, error, finishedAt),
  ]
  const [head] = await endTask(tx.db, {
    id: task.id,
    from: task.status,
    last_event_id: task.last_event_id,
    status: ending.status,
    output: ending.output === undefined ? null : JSON.stringify(ending.output),
    error: error && JSON.stringify(error),
    count: events.length,
    finished_at: finishedAt,
    started_at: task.started_at,
  })
  if (!head) return false
  await write(tx, task.id, head.last_event_id, events)
  await notice(tx, task.project_id, 'task.finished', task.id)
  tx.ring(`task:${task.id}`)
  changed(tx, task.project_id, { kind: 'task', id: task.id, status: ending.status })
  return true
}

function finished(task: Tasks, status: TerminalStatus, error: TaskError | null, at: string): NewEvent {
  const duration_ms = Math.max(0, Date.parse(at) - Date.parse(task.started_at ?? task.created_at))
  return { type: 'task.finished', data: { status, ...(error && { error }), duration_ms } }
}

/** A task that ends before it ran still has a log that begins with `task.created`. */
function neverRan(task: Tasks): NewEvent {
  const { wedge, task_type } = task
  return { type: 'task.created', data: { wedge, task_type, status: 'running', sandbox: 'none', model: 'none' } }
}
