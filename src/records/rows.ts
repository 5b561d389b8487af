import { mergeNewest, type PageQuery } from '../http/page.ts'
import { listNewestPage } from '../store/newest-page.ts'
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

/** The newest records, one more than a page. A filter on a named collection uses the index of its fields. */
export async function listRecords(db: Db, projectIds: readonly string[], filter: RecordFilter): Promise<RecordRow[]> {
  const { collection, limit } = filter
  const tests = toFieldTests(filter.where)
  if (tests.length > 0 && collection !== undefined && filter.key === undefined) {
    return mergeNewest(projectIds, limit + 1, (projectId) =>
      listFilteredRecords(db, { ...filter, projectId, collection }, tests),
    )
  }
  let query = recordsOf(db, projectIds, filter)
  for (const test of tests) query = query.where(recordMatches('records.id', test))
  return listNewestPage(query, filter)
}

function recordsOf(db: Db, projectIds: readonly string[], { wedge, collection, key }: RecordFilter) {
  let query = db.selectFrom('records').selectAll().where('project_id', 'in', projectIds)
  if (wedge !== undefined) query = query.where('wedge', '=', wedge)
  if (collection !== undefined) query = query.where('collection', '=', collection)
  if (key !== undefined) query = query.where('key', '=', key)
  return query
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

type NewRecord = Omit<RecordRow, 'version'>

/** A new record has version 1; an existing one keeps its id, and its version is raised. */
export const upsertRecord = prepareQuery<NewRecord, RecordRow>((db, arg) =>
  insertion(db, arg)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'wedge', 'collection', 'key']).doUpdateSet((eb) => ({
        value: excluded('value'),
        version: eb('records.version', '+', 1),
        updated_at: excluded('updated_at'),
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
    .set((eb) => ({ value: arg('value'), version: eb('version', '+', 1), updated_at: arg('updated_at') }))
    .where('project_id', '=', arg('project_id'))
    .where('wedge', '=', arg('wedge'))
    .where('collection', '=', arg('collection'))
    .where('key', '=', arg('key'))
    .where('version', '=', arg('version'))
    .returningAll(),
)

/** Returns whether the record existed. */
export async function deleteRecord(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('records').where('id', '=', id).returning('id').executeTakeFirst()) !== undefined
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
  })
}
