import { excluded, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { StorageUsageRow } from '../../platform/store/tables.ts'

/** Adds to the bytes of a project; a negative number gives bytes back. */
export const addStoredBytes = prepareQuery<StorageUsageRow>((db, arg) =>
  db
    .insertInto('storage_usage')
    .values({ project_id: arg('project_id'), bytes: arg('bytes') })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet((eb) => ({
        bytes: eb('storage_usage.bytes', '+', excluded('bytes')),
      })),
    )
    .$castTo<never>(),
)

/** Adds to the bytes of a project, unless they would exceed `max`: then it returns no row. */
export const addStoredBytesWithin = prepareQuery<StorageUsageRow & { max: number }, { bytes: number }>((db, arg) =>
  db
    .updateTable('storage_usage')
    .set((eb) => ({ bytes: eb('bytes', '+', arg('bytes')) }))
    .where('project_id', '=', arg('project_id'))
    .where((eb) => eb(eb('bytes', '+', arg('bytes')), '<=', arg('max')))
    .returning('bytes'),
)

const storedBytes = prepareQuery<{ project_id: string }, { bytes: number }>((db, arg) =>
  db.selectFrom('storage_usage').select('bytes').where('project_id', '=', arg('project_id')),
)

export async function findStoredBytes(db: Db, projectId: string): Promise<number> {
  return (await storedBytes(db, { project_id: projectId }))[0]?.bytes ?? 0
}

/** The projects that store at least this many bytes. */
export const listProjectsStoring = prepareQuery<{ min: number }, Pick<StorageUsageRow, 'project_id'>>((db, arg) =>
  db.selectFrom('storage_usage').select('project_id').where('bytes', '>=', arg('min')),
)
