import { sql } from 'kysely'
import { mergeIds } from '../../platform/store/merge-ids.ts'
import type { Db } from '../../platform/store/store.ts'
import type { RecordRow } from '../../platform/store/tables.ts'

/** A collection of a wedge. */
export type WedgeCollection = Pick<RecordRow, 'wedge' | 'collection'>

/** The collections of a project, at most `limit`. Each of them costs one search of the index, however many records it has. */
export async function listCollections(db: Db, projectId: string, limit: number): Promise<WedgeCollection[]> {
  const { rows } = await sql<WedgeCollection>`
    with recursive found (wedge, collection) as (
      select wedge, collection from (
        select wedge, collection from records where project_id = ${projectId} order by wedge, collection limit 1) as first
      union all
      select next.wedge, next.collection from found cross join records as next where next.id =
        coalesce((
          select id from records
          where project_id = ${projectId} and wedge = found.wedge and collection > found.collection
          order by collection limit 1
        ), (
          select id from records where project_id = ${projectId} and wedge > found.wedge
          order by wedge, collection limit 1)))
    select wedge, collection from found limit ${limit}`.execute(db)
  return rows
}

/** The ids of the newest records of some collections of a project, or of those with the key. */
export function selectNewestIds(
  db: Db,
  projectId: string,
  collections: readonly WedgeCollection[],
  { key, cursor, limit }: { key?: string | undefined; cursor?: string | undefined; limit: number },
) {
  const ofEach = collections.map(({ wedge, collection }) => {
    const ids = db.selectFrom('records').select('id').where('project_id', '=', projectId)
    const ofCollection = ids.where('wedge', '=', wedge).where('collection', '=', collection)
    return key === undefined ? ofCollection : ofCollection.where('key', '=', key)
  })
  return mergeIds(db, ofEach, { before: cursor }, 'desc', limit)
}
