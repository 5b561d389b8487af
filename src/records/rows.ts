import { type Expression, sql, type SqlBool } from 'kysely'
import type { PageQuery } from '../http/page.ts'
import { listNewestPage, matchColumns, mergeNewest } from '../store/newest-page.ts'
import { excluded, prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { RecordRow } from '../store/tables.ts'
import { recordMatches, toFieldTests } from './filter/condition-rows.ts'
import { listFilteredRecords } from './filter/filter-rows.ts'
import type { FilterCondition } from './filter/where.ts'

export interface RecordFilter extends PageQuery {
  wedge?: string | undefined
  collection?: string | undefined
  key?: string | undefined
  where: readonly FilterCondition[]
}

/** The newest records, one more than a page. A filter by fields uses the index of each collection, if they are few. */
export async function listRecords(db: Db, projectIds: readonly string[], filter: RecordFilter): Promise<RecordRow[]> {
  const tests = toFieldTests(filter.where)
  const matching = tests.map((test) => recordMatches('records.id', test))
  return mergeNewest(projectIds, filter, async (projectId) => {
    const isByFields = tests.length > 0 && filter.key === undefined
    const collections = isByFields ? await listCollections(db, projectId, filter) : null
    if (collections === null) return listProjectRecords(db, projectId, filter, matching)
    return mergeNewest(collections, filter, (collection) =>
      listFilteredRecords(db, { ...filter, projectId, collection }, tests),
    )
  })
}

/** The collections that a filter reads; null if they are too many to be read one by one. */
async function listCollections(
  db: Db,
  projectId: string,
  { wedge, collection }: RecordFilter,
): Promise<string[] | null> {
  if (collection !== undefined) return [collection]
  const names = await listCollectionNames(db, projectId, wedge, MAX_COLLECTIONS + 1)
  return names.length > MAX_COLLECTIONS ? null : [...new Set(names)]
}

/** Each is a few reads of the index. */
export const MAX_COLLECTIONS = 20

/** The collections of each wedge, by one step in the index for each: reading all records would take too long. */
async function listCollectionNames(
  db: Db,
  projectId: string,
  wedge: string | undefined,
  limit: number,
): Promise<string[]> {
  const first = (column: string, condition: Expression<unknown>) =>
    sql`(select min(${sql.ref(column)}) from records where project_id = ${projectId} and ${condition})`
  const wedges =
    wedge === undefined
      ? sql`select ${first('wedge', sql`true`)}
          union all select ${first('wedge', sql`wedge > wedges.w`)} from wedges where wedges.w is not null`
      : sql`select ${wedge}`
  const { rows } = await sql<{ c: string }>`with recursive wedges (w) as (${wedges}),
    found (w, c) as (select w, ${first('collection', sql`wedge = wedges.w`)} from wedges where w is not null
      union all select w, ${first('collection', sql`wedge = found.w and collection > found.c`)} from found where c is not null)
    select c from found where c is not null limit ${limit}`.execute(db)
  return rows.map(({ c }) => c)
}

function listProjectRecords(
  db: Db,
  projectId: string,
  filter: RecordFilter,
  matching: readonly Expression<SqlBool>[],
): Promise<RecordRow[]> {
  const { wedge, collection, key } = filter
  const ofProject = db.selectFrom('records').selectAll().where('project_id', '=', projectId)
  if (wedge === undefined || collection === undefined)
    return listNewestPage(ofProject, filter, [...matchColumns({ wedge, collection, key }), ...matching])
  const ofCollection = ofProject.where('wedge', '=', wedge).where('collection', '=', collection)
  return listNewestPage(key === undefined ? ofCollection : ofCollection.where('key', '=', key), filter, matching)
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
