import { sql } from 'kysely'
import { createBulkInsert } from '../../platform/store/dialect.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { EventRow, TaskRow } from '../../platform/store/tables.ts'

/** The run of a task may append events only in these statuses. */
export const WRITABLE_STATUSES = ['running', 'awaiting_approval'] as const

/**
 * Reserves numbers for the events of a run. The task row stays locked until the commit, so a reader that has seen event
 * n has seen every event before it. An outdated epoch or an ended task gets no numbers.
 */
export const updateLastEventId = prepareQuery<
  { id: string; epoch: number; count: number },
  Pick<TaskRow, 'project_id' | 'last_event_id' | 'counted_events'>
>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ last_event_id: eb('last_event_id', '+', arg('count')) }))
    .where('id', '=', arg('id'))
    .where('epoch', '=', arg('epoch'))
    .where('status', 'in', WRITABLE_STATUSES)
    .returning(['project_id', 'last_event_id', 'counted_events']),
)

/** Notes that the events up to this number are in the stored bytes of the project. */
export const updateCountedEvents = prepareQuery<{ id: string; counted_events: number }>((db, arg) =>
  db
    .updateTable('tasks')
    .set({ counted_events: arg('counted_events') })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

/** Reserves a number for feedback, also after the run has ended. Event 1 is always `task.created`. */
export const updateLastEventIdForFeedback = prepareQuery<
  { id: string },
  Pick<TaskRow, 'project_id' | 'last_event_id' | 'finished_at'>
>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ last_event_id: eb('last_event_id', '+', 1) }))
    .where('id', '=', arg('id'))
    .where('last_event_id', '>', 0)
    .returning(['project_id', 'last_event_id', 'finished_at']),
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
  /** The log may have more events. */
  more: boolean
  /** The page ends at a long event, so the next page is read with the smaller page size. */
  hasLongEvents: boolean
}

/**
 * A page of the log: many short events or few long ones, so that a page never exceeds about one megabyte. Logs with short
 * events only need one query; adding up the lengths first would cost 10 % more.
 */
export async function listEventPage(
  db: Db,
  where: { task_id: string; after: number },
  hasLongEvents = false,
): Promise<EventPage> {
  const found = await (hasLongEvents ? listLongEvents : listShortEvents)(db, where)
  if (hasLongEvents) {
    return {
      rows: found,
      more: found.length === LONG_EVENT_PAGE_SIZE,
      hasLongEvents: found.some(({ data }) => data.length > MAX_SHORT_EVENT_BYTES),
    }
  }
  const end = found.findIndex(({ data }) => data === TOO_LONG)
  if (end === 0) return listEventPage(db, where, true)
  if (end > 0) return { rows: found.slice(0, end), more: true, hasLongEvents: true }
  return { rows: found, more: found.length === EVENT_PAGE_SIZE, hasLongEvents: false }
}

export const EVENT_PAGE_SIZE = 500
const LONG_EVENT_PAGE_SIZE = 16
const MAX_SHORT_EVENT_BYTES = 2048
/** Replaces data that is too long; the data of an event is never empty. */
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

/** The event that ended the run. Searches from the end of the log, because only feedback can follow it. */
export const findFinishedEventNumber = prepareQuery<{ task_id: string }, { seq: number }>((db, arg) =>
  db
    .selectFrom('events')
    .select('seq')
    .where('task_id', '=', arg('task_id'))
    .where('type', '=', 'task.finished')
    .orderBy('seq', 'desc')
    .limit(1),
)

export const sumEventBytesAfter = prepareQuery<{ task_id: string; seq: number }, { bytes: number }>((db, arg) =>
  db
    .selectFrom('events')
    .select(sql<number>`coalesce(sum(octet_length(data)), 0)`.as('bytes'))
    .where('task_id', '=', arg('task_id'))
    .where('seq', '>', arg('seq')),
)

export async function listLastEventIds(db: Db, taskIds: string[]): Promise<{ id: string; last_event_id: number }[]> {
  if (taskIds.length === 0) return []
  return db.selectFrom('tasks').select(['id', 'last_event_id']).where('id', 'in', taskIds).execute()
}

/** The last events about steps and their tools, the newest first. */
export const listLastStepEvents = prepareQuery<{ task_id: string }, Pick<EventRow, 'type' | 'data'>>((db, arg) =>
  db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('task_id', '=', arg('task_id'))
    .where('type', 'in', ['step.started', 'tool.called', 'tool.result'])
    .orderBy('seq', 'desc')
    .limit(200),
)

/** What the agent did and said until a time, the newest first. */
export const listStepEventsUntil = prepareQuery<
  { task_id: string; until: string },
  Pick<EventRow, 'type' | 'ts' | 'data'>
>((db, arg) =>
  db
    .selectFrom('events')
    .select(['type', 'ts', 'data'])
    .where('task_id', '=', arg('task_id'))
    .where('ts', '<=', arg('until'))
    .where('type', 'in', ['tool.called', 'tool.result', 'progress', 'token.delta'])
    .orderBy('seq', 'desc')
    .limit(100),
)
