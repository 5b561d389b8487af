import { manyRows } from '../store/dialect.ts'
import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { Events } from '../store/tables.ts'

const OPEN = ['running', 'awaiting_approval'] as const

/**
 * Takes numbers for the events of a run. The task's row stays locked until the commit, so a reader that has seen
 * event n has seen every event before it. Nobody whose epoch is over, and nothing after the end, gets a number.
 */
export const takeNumbers = prepared<{ id: string; epoch: number; count: number }, { last_event_id: number }>(
  (db, arg) =>
    db
      .updateTable('tasks')
      .set((eb) => ({ last_event_id: eb('last_event_id', '+', arg('count')) }))
      .where('id', '=', arg('id'))
      .where('epoch', '=', arg('epoch'))
      .where('status', 'in', OPEN)
      .returning('last_event_id'),
)

/** A note on a run that may be over, such as feedback. It never comes first: number 1 is `task.created`. */
export const takeNumberOfNote = prepared<{ id: string }, { last_event_id: number }>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ last_event_id: eb('last_event_id', '+', 1) }))
    .where('id', '=', arg('id'))
    .where('last_event_id', '>', 0)
    .returning('last_event_id'),
)

const insertRows = manyRows('events', ['task_id', 'seq', 'type', 'ts', 'data'])

export function insertEvents(db: Db, events: readonly Events[]): Promise<void> {
  return insertRows(
    db,
    events.map((event) => [event.task_id, event.seq, event.type, event.ts, event.data]),
  )
}

export const PAGE = 500

/** A page of the log. */
export const readEvents = prepared<{ task_id: string; after: number }, Events>((db, arg) =>
  db
    .selectFrom('events')
    .select(['task_id', 'seq', 'type', 'ts', 'data'])
    .where('task_id', '=', arg('task_id'))
    .where('seq', '>', arg('after'))
    .orderBy('seq')
    .limit(PAGE),
)

/** The oldest event that is still in a log. */
export const firstNumber = prepared<{ task_id: string }, { seq: number }>((db, arg) =>
  db.selectFrom('events').select('seq').where('task_id', '=', arg('task_id')).orderBy('seq').limit(1),
)

/** Where the run ended. Looked for from the end of the log: only notes can follow it. */
export const lastNumber = prepared<{ task_id: string }, { seq: number }>((db, arg) =>
  db
    .selectFrom('events')
    .select('seq')
    .where('task_id', '=', arg('task_id'))
    .where('type', '=', 'task.finished')
    .orderBy('seq', 'desc')
    .limit(1),
)

export const dropEventsBefore = prepared<{ task_id: string; seq: number }>((db, arg) =>
  db.deleteFrom('events').where('task_id', '=', arg('task_id')).where('seq', '<', arg('seq')).$castTo<never>(),
)

export async function readHeads(db: Db, taskIds: string[]): Promise<{ id: string; last_event_id: number }[]> {
  if (taskIds.length === 0) return []
  return db.selectFrom('tasks').select(['id', 'last_event_id']).where('id', 'in', taskIds).execute()
}
