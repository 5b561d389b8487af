import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestOfProjects, matchColumns } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ScheduleRow } from '../../platform/store/tables.ts'

export async function insertSchedule(db: Db, row: ScheduleRow): Promise<void> {
  await db.insertInto('schedules').values(row).execute()
}

export function findSchedule(db: Db, projectIds: readonly string[], id: string): Promise<ScheduleRow | undefined> {
  return db
    .selectFrom('schedules')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
}

export function listSchedules(
  db: Db,
  projectIds: readonly string[],
  filter: PageQuery & { wedge?: string | undefined },
): Promise<ScheduleRow[]> {
  const schedules = db.selectFrom('schedules').selectAll()
  const filters = matchColumns({ wedge: filter.wedge })
  return listNewestOfProjects({
    projectIds,
    page: filter,
    rows: { query: schedules, filters },
    searchIn: (projectId) => ({ query: schedules.where('project_id', '=', projectId), filters }),
  })
}

/** Locks the schedule until the commit, with an update that changes nothing. */
export function lockSchedule(db: Db, id: string): Promise<ScheduleRow | undefined> {
  return db
    .updateTable('schedules')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Call it only after `lockSchedule`. */
export async function updateSchedule(db: Db, { id, ...fields }: ScheduleRow): Promise<void> {
  await db.updateTable('schedules').set(fields).where('id', '=', id).execute()
}

/** False if the schedule did not exist any more. Its tasks are kept. */
export async function deleteScheduleWithSlots(db: Db, id: string): Promise<boolean> {
  const gone = await db.deleteFrom('schedules').where('id', '=', id).returning('id').executeTakeFirst()
  await db.deleteFrom('schedule_slots').where('schedule_id', '=', id).execute()
  return gone !== undefined
}

/** Enabled schedules whose due time has passed, the longest overdue first. */
export const listDueSchedules = prepareQuery<{ now: string; limit: number }, ScheduleRow>((db, arg) =>
  db
    .selectFrom('schedules')
    .selectAll()
    .where('enabled', '=', 1)
    .where('next_run_at', '<=', arg('now'))
    .orderBy('next_run_at')
    .limit(arg('limit')),
)

/** Enabled schedules that were changed or fired at a time in the future. */
export const listSchedulesAhead = prepareQuery<{ later: string }, ScheduleRow>((db, arg) =>
  db
    .selectFrom('schedules')
    .selectAll()
    .where('enabled', '=', 1)
    .where((eb) => eb.or([eb('last_run_at', '>', arg('later')), eb('updated_at', '>', arg('later'))])),
)

/** Claims a due time: one of all replicas that see it moves `next_run_at` on. */
export const updateNextRun = prepareQuery<{ id: string; slot: string; next: string }, { id: string }>((db, arg) =>
  db
    .updateTable('schedules')
    .set({ next_run_at: arg('next') })
    .where('id', '=', arg('id'))
    .where('enabled', '=', 1)
    .where('next_run_at', '=', arg('slot'))
    .returning('id'),
)

/** A second guard: a due time with a row never fires again, even if a wrong clock moves `next_run_at` back. */
export const insertScheduleSlot = prepareQuery<
  { schedule_id: string; slot: string; task_id: string | null },
  { schedule_id: string }
>((db, arg) =>
  db
    .insertInto('schedule_slots')
    .values({ schedule_id: arg('schedule_id'), slot: arg('slot'), task_id: arg('task_id') })
    .onConflict((conflict) => conflict.doNothing())
    .returning('schedule_id'),
)

export const deleteScheduleSlotsBefore = prepareQuery<{ schedule_id: string; before: string }>((db, arg) =>
  db
    .deleteFrom('schedule_slots')
    .where('schedule_id', '=', arg('schedule_id'))
    .where('slot', '<', arg('before'))
    .$castTo<never>(),
)

export const updateScheduleFired = prepareQuery<{ id: string; at: string; task_id: string }>((db, arg) =>
  db
    .updateTable('schedules')
    .set({ last_run_at: arg('at'), last_task_id: arg('task_id'), last_error: null })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)

export const updateScheduleFailed = prepareQuery<{ id: string; at: string; error: string }>((db, arg) =>
  db
    .updateTable('schedules')
    .set({ last_run_at: arg('at'), last_error: arg('error') })
    .where('id', '=', arg('id'))
    .$castTo<never>(),
)
