import { newestOf, type PageQuery } from '../http/page.ts'
import { newestPage } from '../store/newest-page.ts'
import { excluded, prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { Records } from '../store/tables.ts'
import { columnsOn } from './columns.ts'
import { shelfOf } from './shelf.ts'
import type { Condition } from './where.ts'
import { gather, leadingTest, singleTest } from './where-lead.ts'
import { byAge } from './where-newest.ts'
import { glanceAt, rarestFirst } from './where-sample.ts'
import { scan } from './where-scan.ts'
import { type FieldTest, fieldTests, recordFulfils } from './where-sql.ts'

export interface RecordFilter extends PageQuery {
  wedge?: string | undefined
  collection?: string | undefined
  key?: string | undefined
  where: readonly Condition[]
}

/** Newest first, one more than a page. In a named collection a filter is answered from the index of fields. */
export async function listRecords(db: Db, projectIds: readonly string[], filter: RecordFilter): Promise<Records[]> {
  const { collection, limit } = filter
  const tests = fieldTests(filter.where)
  if (tests.length > 0 && collection !== undefined && filter.key === undefined) {
    return newestOf(projectIds, limit + 1, (projectId) =>
      filterCollection(db, { ...filter, projectId, collection }, tests),
    )
  }
  let query = recordsOf(db, projectIds, filter)
  for (const test of tests) query = query.where(recordFulfils('records.id', test))
  return newestPage(query, filter)
}

/** What few records fulfil is gathered and tried; what many fulfil is read by age. */
async function filterCollection(
  db: Db,
  filter: RecordFilter & { projectId: string; collection: string },
  tests: readonly FieldTest[],
): Promise<Records[]> {
  const shelf = shelfOf(filter.projectId, filter.collection)
  const place = { ...filter, shelf, columns: await columnsOn(db, shelf) }
  const single = singleTest(tests)
  const { rows } = single
    ? await gather(db, place, single, tests).execute(db)
    : await byAge(db, async (planned) => {
        const glance = await glanceAt(planned, place, tests)
        const lead = await leadingTest(planned, place, glance)
        const found = lead ? gather(planned, place, lead, tests) : scan(planned, place, rarestFirst(glance))
        return found.execute(planned)
      })
  return rows
}

function recordsOf(db: Db, projectIds: readonly string[], { wedge, collection, key }: RecordFilter) {
  let query = db.selectFrom('records').selectAll().where('project_id', 'in', projectIds)
  if (wedge !== undefined) query = query.where('wedge', '=', wedge)
  if (collection !== undefined) query = query.where('collection', '=', collection)
  if (key !== undefined) query = query.where('key', '=', key)
  return query
}

export function findRecord(db: Db, projectIds: readonly string[], id: string): Promise<Records | undefined> {
  return db
    .selectFrom('records')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'in', projectIds)
    .executeTakeFirst()
}

export type RecordKey = Pick<Records, 'project_id' | 'wedge' | 'collection' | 'key'>

const recordByKey = prepared<RecordKey, Records>((db, arg) =>
  db
    .selectFrom('records')
    .selectAll()
    .where('project_id', '=', arg('project_id'))
    .where('wedge', '=', arg('wedge'))
    .where('collection', '=', arg('collection'))
    .where('key', '=', arg('key')),
)

export async function findByKey(db: Db, at: RecordKey): Promise<Records | undefined> {
  return (await recordByKey(db, at))[0]
}

type NewRecord = Omit<Records, 'version'>

/** A new record has version 1; one that was there keeps its id and counts on. */
export const upsert = prepared<NewRecord, Records>((db, arg) =>
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

export const insertIfNew = prepared<NewRecord, Records>((db, arg) =>
  insertion(db, arg)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll(),
)

export const replaceVersion = prepared<RecordKey & { value: string; updated_at: string; version: number }, Records>(
  (db, arg) =>
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

/** Answers whether it was there. */
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
