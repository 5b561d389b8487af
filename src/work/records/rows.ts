import { sql } from 'kysely'
import type { PageQuery } from '../../platform/http/page.ts'
import { isInList, toListArgument } from '../../platform/store/list-argument.ts'
import { listNewestOfProjects, matchColumns } from '../../platform/store/newest-page.ts'
import { excluded, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { RecordRow } from '../../platform/store/tables.ts'
import { type FieldTest, recordMatches, toFieldTests } from './filter/condition-rows.ts'
import { findFewRecordIds } from './filter/field-rows.ts'
import type { FilterCondition } from './filter/where.ts'

export interface RecordFilter extends PageQuery {
  wedge?: string | undefined
  collection?: string | undefined
  key?: string | undefined
  where: readonly FilterCondition[]
}

/** More records than this are not looked up by their ids. The list then compares the newest records one by one. */
const MAX_INDEXED_RECORDS = 2_000

/** The newest records, one more than a page. */
export function listRecords(
  db: Db,
  projectIds: readonly string[],
  filter: RecordFilter,
  maxIndexed = MAX_INDEXED_RECORDS,
): Promise<RecordRow[]> {
  const tests = toFieldTests(filter.where)
  const records = db.selectFrom('records').selectAll()
  return listNewestOfProjects({
    projectIds,
    page: filter,
    // The wedge, the collection and the key of a record never change.
    rows: { query: records, filters: tests.map(recordMatches) },
    searchIn: (projectId) => searchRecords(db, projectId, filter, tests, maxIndexed),
  })
}

async function searchRecords(
  db: Db,
  projectId: string,
  filter: RecordFilter,
  tests: readonly FieldTest[],
  maxIndexed: number,
) {
  const { wedge, collection, key, cursor } = filter
  const ofProject = db.selectFrom('records').selectAll().where('project_id', '=', projectId)
  const matching = tests.map(recordMatches)
  const ids =
    key === undefined ? await findFewRecordIds(db, { projectId, collection, cursor }, tests, maxIndexed) : null
  if (ids)
    return {
      query: ofProject.where(isInList(db, 'id', toListArgument(db, ids))),
      filters: [...matchColumns({ wedge, collection }), ...matching],
    }
  if (wedge === undefined || collection === undefined)
    return { query: ofProject, filters: [...matchColumns({ wedge, collection, key }), ...matching] }
  const ofCollection = ofProject.where('wedge', '=', wedge).where('collection', '=', collection)
  return { query: key === undefined ? ofCollection : ofCollection.where('key', '=', key), filters: matching }
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
