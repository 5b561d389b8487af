import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { isUnused } from '../../work/files/rows.ts'

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

/** Returns no row if the upload has finished. */
export const updateUploadDeleted = prepareQuery<{ id: string }, { id: string }>((db, arg) =>
  db
    .updateTable('files')
    .set({ state: 'deleted' })
    .where('id', '=', arg('id'))
    .where('state', '=', 'uploading')
    .returning('id'),
)

/** Files whose bytes must be removed: those that were deleted, and uploads that began before a time. */
export function listFilesToRemove(db: Db, startedBefore: string, limit: number): Promise<FileRow[]> {
  return db
    .selectFrom('files')
    .selectAll()
    .where('state', '<>', sql.lit('stored'))
    .where((eb) =>
      eb.or([
        eb('state', '=', 'deleted'),
        eb.and([eb('state', '=', 'uploading'), eb('created_at', '<', startedBefore)]),
      ]),
    )
    .limit(limit)
    .execute()
}
