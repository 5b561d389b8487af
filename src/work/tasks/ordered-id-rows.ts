import { sql } from 'kysely'
import { type IdBounds, mergeIds } from '../../platform/store/merge-ids.ts'
import type { Db } from '../../platform/store/store.ts'
import { TASK_STATUSES, type TaskStatus } from './status.ts'

/** The tasks of a project that `taskIdsInOrder` reads; an undefined field selects all. */
interface TaskRange extends IdBounds {
  projectId: string
  status?: TaskStatus | undefined
  wedge?: string | undefined
}

/**
 * The ids of a project's tasks in order, as a union over the statuses. Each part reads a range of an index that begins
 * with the project and the status, and with the wedge if there is one. An index on the project alone, or on the project
 * and the wedge, would make every creation write one more index.
 */
export function taskIdsInOrder(db: Db, range: TaskRange, order: 'asc' | 'desc', limit: number) {
  const statuses = range.status === undefined ? TASK_STATUSES : [range.status]
  const ofEach = statuses.map((status) => taskIdsOfStatus(db, range, status))
  return mergeIds(db, ofEach, range, order, limit)
}

/**
 * The status is a literal, not a parameter. With a parameter PostgreSQL assumes that all statuses are equally common, and
 * scans the whole primary key for a status that no task has.
 */
function taskIdsOfStatus(db: Db, { projectId, wedge }: TaskRange, status: TaskStatus) {
  const ids = db
    .selectFrom('tasks')
    .select('id')
    .where('status', '=', sql.lit<TaskStatus>(status))
    .where('project_id', '=', projectId)
  return wedge === undefined ? ids : ids.where('wedge', '=', wedge)
}
