import { sql } from 'kysely'
import { createBulkInsert } from '../store/dialect.ts'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { EventRow } from '../store/tables.ts'

/** While a task has one of these its run may write. */
export const WRITABLE_STATUSES = ['running', 'awaiting_approval'] as const

/**
 * Takes numbers for the events of a run. The task's row stays locked until the commit, so a reader that has seen
 * event n has seen every event before it. Nobody whose epoch is over, and nothing after the end, gets a number.
 */
export const updateLastEventId = prepareQuery<{ id: string; epoch: number; count: number }, { last_event_id: number }>(
  (db, arg) =>
    db
      .updateTable('tasks')
      .set((eb) => ({ last_event_id: eb('last_event_id', '+', arg('count')) }))
      .where('id', '=', arg('id'))
      .where('epoch', '=', arg('epoch'))
      .where('status', 'in', WRITABLE_STATUSES)
      .returning('last_event_id'),
)

/** A note on a run that may be over, such as feedback. It never comes first: number 1 is `task.created`. */
export const updateLastEventIdForFeedback = prepareQuery<{ id: string }, { last_event_id: number }>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ last_event_id: eb('last_event_id', '+', 1) }))
    .where('id', '=', arg('id'))
    .where('last_event_id', '>', 0)
    .returning('last_event_id'),
)

const insertEventRows = createBulkInsert('events', ['task_id', 'seq', 'type', 'ts', 'data'])

export function insertEvents(db: Db, events: readonly EventRow[]): Promise<void> {
  return insertEventRows(
    db,
    events.map((event) => [event.task_id, event.seq, event.type, event.ts, event.data]),
  )
}

export interface EventPage {
  rows: EventRow[]
  /** There may be more in the log. */
  more: boolean
  /** The log has long events here: the next page is read as one of those. */
  long: boolean
}

/**
 * A page of the log: many events while they are short, few where they are long, and so never more than about a
 * megabyte, whatever an agent says. Short ones pay nothing for it: to sum up lengths first takes a tenth of the time.
 */
export async function listEventPage(
  db: Db,
  where: { task_id: string; after: number },
  long = false,
): Promise<EventPage> {
  const found = await (long ? listLongEvents : listShortEvents)(db, where)
  if (long)
    return {
      rows: found,
      more: found.length === LONG_EVENT_PAGE_SIZE,
      long: found.some(({ data }) => data.length > MAX_SHORT_EVENT_BYTES),
    }
  const end = found.findIndex(({ data }) => data === TOO_LONG)
  if (end === 0) return listEventPage(db, where, true)
  if (end > 0) return { rows: found.slice(0, end), more: true, long: true }
  return { rows: found, more: found.length === EVENT_PAGE_SIZE, long: false }
}

export const EVENT_PAGE_SIZE = 500
const LONG_EVENT_PAGE_SIZE = 16
/** In bytes. */
const MAX_SHORT_EVENT_BYTES = 2048
/** Stands for what is too long; nothing that an event says is empty. */
const TOO_LONG = ''

const EVENT_COLUMNS = ['task_id', 'seq', 'type', 'ts'] as const

const listShortEvents = prepareQuery<{ task_id: string; after: number }, EventRow>((db, arg) =>
  db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .select(
      sql<string>`case when octet_length(data) <= ${MAX_SHORT_EVENT_BYTES} then data else ${TOO_LONG} end`.as('data'),
    )
    .where('task_id', '=', arg('task_id'))
    .where('seq', '>', arg('after'))
    .orderBy('seq')
    .limit(EVENT_PAGE_SIZE),
)

const listLongEvents = prepareQuery<{ task_id: string; after: number }, EventRow>((db, arg) =>
  db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .select('data')
    .where('task_id', '=', arg('task_id'))
    .where('seq', '>', arg('after'))
    .orderBy('seq')
    .limit(LONG_EVENT_PAGE_SIZE),
)

/** The oldest event that is still in a log. */
export const findFirstEventNumber = prepareQuery<{ task_id: string }, { seq: number }>((db, arg) =>
  db.selectFrom('events').select('seq').where('task_id', '=', arg('task_id')).orderBy('seq').limit(1),
)

/** Where the run ended. Looked for from the end of the log: only notes can follow it. */
export const findFinishedEventNumber = prepareQuery<{ task_id: string }, { seq: number }>((db, arg) =>
  db
    .selectFrom('events')
    .select('seq')
    .where('task_id', '=', arg('task_id'))
    .where('type', '=', 'task.finished')
    .orderBy('seq', 'desc')
    .limit(1),
)

export const deleteEventsBefore = prepareQuery<{ task_id: string; seq: number }>((db, arg) =>
  db.deleteFrom('events').where('task_id', '=', arg('task_id')).where('seq', '<', arg('seq')).$castTo<never>(),
)

export async function listLastEventIds(db: Db, taskIds: string[]): Promise<{ id: string; last_event_id: number }[]> {
  if (taskIds.length === 0) return []
  return db.selectFrom('tasks').select(['id', 'last_event_id']).where('id', 'in', taskIds).execute()
}
