import { type Expression, sql, type SqlBool } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { FileRow } from '../../platform/store/tables.ts'

/**
 * Whether nothing needs a file any more: no message and no brand has it, and the logs of all tasks that used it are removed. Whatever
 * else refers to files must be added here. With `exists`, PostgreSQL would read the whole tables for each page of files.
 */
const isUnused: Expression<SqlBool> = sql<SqlBool>`(
  (select 1 from message_files where message_files.file_id = files.id limit 1) is null
  and (select 1 from brands where brands.logo_file_id = files.id or brands.favicon_file_id = files.id limit 1) is null
  and (
    select 1 from task_files inner join tasks on tasks.id = task_files.task_id
    where task_files.file_id = files.id and tasks.log_pruned_at is null limit 1) is null)`

/** The next stored files that were created before a time, in the order of their ids. */
export const listOldFiles = prepareQuery<
  { before: string; after: string; limit: number },
  FileRow & { is_unused: number }
>((db, arg) =>
  db
    .selectFrom('files')
    .selectAll()
    .select(sql<number>`case when ${isUnused} then 1 else 0 end`.as('is_unused'))
    .where('id', '>', arg('after'))
    .where('state', '=', 'stored')
    .where('created_at', '<', arg('before'))
    .orderBy('id')
    .limit(arg('limit')),
)

/** No row if something uses the file again. */
export const updateUnusedFileDeleted = prepareQuery<{ id: string }, FileRow>((db, arg) =>
  db
    .updateTable('files')
    .set({ state: 'deleted' })
    .where('id', '=', arg('id'))
    .where('state', '=', 'stored')
    .where(isUnused)
    .returningAll(),
)
