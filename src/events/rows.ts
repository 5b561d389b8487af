import { sql } from 'kysely'
import { manyRows } from '../store/dialect.ts'
import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { Events } from '../store/tables.ts'

/** While a task has one of these its run may write. */
export const OPEN = ['running', 'awaiting_approval'] as const

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

export interface LogPage {
  rows: Events[]
  /** There may be more in the log. */
  more: boolean
  /** The log has long events here: the next page is read as one of those. */
  long: boolean
}

/**
 * A page of the log: many events while they are short, few where they are long, and so never more than about a
 * megabyte, whatever an agent says. Short ones pay nothing for it: to sum up lengths first takes a tenth of the time.
 */
export async function readPage(db: Db, where: { task_id: string; after: number }, long = false): Promise<LogPage> {
  const found = await (long ? fewEvents : manyEvents)(db, where)
  if (long) return { rows: found, more: found.length === FEW, long: found.some(({ data }) => data.length > LONG) }
  const end = found.findIndex(({ data }) => data === LEFT_OUT)
  if (end === 0) return readPage(db, where, true)
  if (end > 0) return { rows: found.slice(0, end), more: true, long: true }
  return { rows: found, more: found.length === PAGE, long: false }
}

export const PAGE = 500
const FEW = 16
/** In bytes. */
const LONG = 2048
/** Stands for what is too long; nothing that an event says is empty. */
const LEFT_OUT = ''

const COLUMNS = ['task_id', 'seq', 'type', 'ts'] as const

const manyEvents = prepared<{ task_id: string; after: number }, Events>((db, arg) =>
  db
    .selectFrom('events')
    .select(COLUMNS)
    .select(sql<string>`case when octet_length(data) <= ${LONG} then data else ${LEFT_OUT} end`.as('data'))
    .where('task_id', '=', arg('task_id'))
    .where('seq', '>', arg('after'))
    .orderBy('seq')
    .limit(PAGE),
)

const fewEvents = prepared<{ task_id: string; after: number }, Events>((db, arg) =>
  db
    .selectFrom('events')
    .select(COLUMNS)
    .select('data')
    .where('task_id', '=', arg('task_id'))
    .where('seq', '>', arg('after'))
    .orderBy('seq')
    .limit(FEW),
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
