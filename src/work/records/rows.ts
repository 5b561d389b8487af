import { type Expression, sql, type SqlBool } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestOfProjects, matchColumns, mergeNewest } from '../../platform/store/newest-page.ts'
import { excluded, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { RecordRow } from '../../platform/store/tables.ts'
import { listCollections, selectNewestIds } from './collection-rows.ts'
import { recordMatches, toFieldTests } from './filter/condition-rows.ts'
import { listFilteredRecords } from './filter/filter-rows.ts'
import type { FilterCondition } from './filter/where.ts'

export interface RecordFilter extends PageQuery {
  wedge?: string | undefined
  collection?: string | undefined
  key?: string | undefined
  where: readonly FilterCondition[]
}

/**
 * Above this number of collections, of a project or, for a filter on fields, of all projects together, the records are
 * compared one by one.
 */
const MAX_MERGED_COLLECTIONS = 100

/** The newest records, one more than a page. A filter on fields uses the index that each collection has. */
export async function listRecords(db: Db, projectIds: readonly string[], filter: RecordFilter): Promise<RecordRow[]> {
  const tests = toFieldTests(filter.where)
  if (tests.length > 0 && filter.key === undefined) {
    const collections = await listNamedCollections(db, projectIds, filter)
    if (collections)
      return mergeNewest(collections, filter, newestFirst, (named) =>
        listFilteredRecords(db, { ...filter, ...named }, tests),
      )
  }
  const matching = tests.map((test) => recordMatches('records.id', test))
  const records = db.selectFrom('records').selectAll()
  return listNewestOfProjects(db, {
    projectIds,
    page: filter,
    // The wedge, the collection and the key of a record never change.
    rows: { query: records, filters: matching },
    searchIn: (projectId, page) => searchRecords(db, projectId, { ...filter, ...page }, matching),
  })
}

const newestFirst = (a: RecordRow, b: RecordRow) => (a.id < b.id ? 1 : -1)

/** The collections of these projects that a filter on fields reads, of all wedges; null if they are too many. */
async function listNamedCollections(db: Db, projectIds: readonly string[], { wedge, collection }: RecordFilter) {
  if (collection !== undefined) return projectIds.map((projectId) => ({ projectId, collection }))
  const named: { projectId: string; collection: string }[] = []
  for (const projectId of projectIds) {
    const all = await listCollections(db, projectId, MAX_MERGED_COLLECTIONS + 1)
    const names = all.filter((one) => wedge === undefined || one.wedge === wedge).map((one) => one.collection)
    named.push(...[...new Set(names)].map((name) => ({ projectId, collection: name })))
    if (Math.max(all.length, named.length) > MAX_MERGED_COLLECTIONS) return null
  }
  return named
}

async function searchRecords(
  db: Db,
  projectId: string,
  filter: RecordFilter,
  matching: readonly Expression<SqlBool>[],
) {
  const { wedge, collection, key } = filter
  const columns = matchColumns({ wedge, collection, key })
  const records = db.selectFrom('records').selectAll()
  const ofProject = { query: records.where('project_id', '=', projectId), filters: [...columns, ...matching] }
  // The newest ids of each collection are not enough if a filter then drops some of them.
  if (columns.length === 0 || (matching.length > 0 && key === undefined)) return ofProject
  const all =
    wedge !== undefined && collection !== undefined
      ? [{ wedge, collection }]
      : await listCollections(db, projectId, MAX_MERGED_COLLECTIONS + 1)
  if (all.length > MAX_MERGED_COLLECTIONS) return ofProject
  const selected = all.filter(
    (one) => (wedge ?? one.wedge) === one.wedge && (collection ?? one.collection) === one.collection,
  )
  if (selected.length === 0) return null
  // A collection has at most one record of a key, so these are all of them.
  const limit = key === undefined ? filter.limit + 1 : selected.length
  const ids = selectNewestIds(db, projectId, selected, { ...filter, limit })
  return { query: records.where('id', 'in', ids), filters: matching }
}

export function findRecord(db: Db, projectIds: readonly string[], id: string): Promise<RecordRow | undefined> {
  return db
    .selectFrom('records')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
}

export type RecordKey = Pick<RecordRow, 'project_id' | 'wedge' | 'collection' | 'key'>

const recordByKey = prepareQuery<RecordKey, RecordRow>((db, arg) =>
  db
    .selectFrom('records')
    .selectAll()
    .where('project_id', '=', arg('project_id'))
    .where('wedge', '=', arg('wedge'))
    .where('collection', '=', arg('collection'))
    .where('key', '=', arg('key')),
)

export async function findRecordByKey(db: Db, recordKey: RecordKey): Promise<RecordRow | undefined> {
  return (await recordByKey(db, recordKey))[0]
}

export type NewRecord = Omit<RecordRow, 'version' | 'replaced_bytes'>

/** A new record has version 1; an existing one keeps its id, and its version is raised. */
export const upsertRecord = prepareQuery<NewRecord, RecordRow>((db, arg) =>
  insertion(db, arg)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'wedge', 'collection', 'key']).doUpdateSet((eb) => ({
        value: excluded('value'),
        version: eb('records.version', '+', 1),
        updated_at: excluded('updated_at'),
        replaced_bytes: sql<number>`octet_length(records.value)`,
      })),
    )
    .returningAll(),
)

export const insertRecordIfNew = prepareQuery<NewRecord, RecordRow>((db, arg) =>
  insertion(db, arg)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll(),
)

export const updateRecordVersion = prepareQuery<
  RecordKey & { value: string; updated_at: string; version: number },
  RecordRow
>((db, arg) =>
  db
    .updateTable('records')
    .set((eb) => ({
      value: arg('value'),
      version: eb('version', '+', 1),
      updated_at: arg('updated_at'),
      replaced_bytes: sql<number>`octet_length(value)`,
    }))
    .where('project_id', '=', arg('project_id'))
    .where('wedge', '=', arg('wedge'))
    .where('collection', '=', arg('collection'))
    .where('key', '=', arg('key'))
    .where('version', '=', arg('version'))
    .returningAll(),
)

/** The size of the deleted value; undefined if the record did not exist. */
export function deleteRecord(db: Db, id: string): Promise<{ bytes: number } | undefined> {
  return db
    .deleteFrom('records')
    .where('id', '=', id)
    .returning(sql<number>`octet_length(value)`.as('bytes'))
    .executeTakeFirst()
}

function insertion(db: Db, arg: <Name extends keyof NewRecord>(name: Name) => NewRecord[Name]) {
  return db.insertInto('records').values({
    id: arg('id'),
    project_id: arg('project_id'),
    wedge: arg('wedge'),
    collection: arg('collection'),
    key: arg('key'),
    value: arg('value'),
    version: 1,
    created_at: arg('created_at'),
    updated_at: arg('updated_at'),
    replaced_bytes: 0,
  })
}
