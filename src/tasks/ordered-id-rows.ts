import { sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { TASK_STATUSES, type TaskStatus } from './status.ts'

/**
 * The ids of a project's tasks, in their order, status by status: each is a stretch of the index that the queue needs
 * anyway. An index by project alone would be one more for every creation to write.
 */
export function taskIdsInOrder(
  db: Db,
  projectId: string,
  order: 'asc' | 'desc',
  limit: number,
  narrow: (ids: TaskIdsOfStatus) => TaskIdsOfStatus,
) {
  const each = TASK_STATUSES.map((status) =>
    db
      .selectFrom(
        narrow(taskIdsOfStatus(db, projectId, status))
          .orderBy('id', order)
          .limit(limit)
          .as('ids'),
      )
      .select('id'),
  )
  const all = each.reduce((some, more) => some.unionAll(more))
  return db.selectFrom(all.as('ids')).select('id').orderBy('id', order).limit(limit)
}

type TaskIdsOfStatus = ReturnType<typeof taskIdsOfStatus>

/**
 * The status is part of the text: of one that is only known later PostgreSQL expects as many rows as of any other, and
 * would look for a status that no task has among all of them, in the order of their ids.
 */
const taskIdsOfStatus = (db: Db, projectId: string, status: TaskStatus) =>
  db
    .selectFrom('tasks')
    .select('id')
    .where('status', '=', sql.lit<TaskStatus>(status))
    .where('project_id', '=', projectId)
