import { sql } from 'kysely'
import { createBulkInsert } from '../../../platform/store/dialect.ts'
import { prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { RecordRow } from '../../../platform/store/tables.ts'
import { type FieldTest, hasSingleKey, keyMatches } from './condition-rows.ts'
import type { RecordField } from './fields.ts'

/** Replaces the index rows of a record. The caller has written the record, so its row is locked. */
export async function insertRecordFields(db: Db, record: RecordRow, fields: readonly RecordField[]): Promise<void> {
  const { id, project_id, collection, version } = record
  if (version > 1) await deleteRecordFields(db, { record_id: id })
  await insertFields(
    db,
    fields.map(({ path, sortKey }) => [id, project_id, collection, path, sortKey]),
  )
}

const insertFields = createBulkInsert('record_fields', ['record_id', 'project_id', 'collection', 'path', 'sort_key'])

export const deleteRecordFields = prepareQuery<{ record_id: string }>((db, arg) =>
  db.deleteFrom('record_fields').where('record_id', '=', arg('record_id')).$castTo<never>(),
)

/** Which records the index is searched for; without a collection, those of all collections. */
export interface FieldSearch {
  projectId: string
  collection?: string | undefined
  cursor?: string | undefined
}

/**
 * The records that pass some of the tests, if these are at most `max`; otherwise null. The tests for equality are searched
 * together, because the index has their records in one order, which makes an intersection fast.
 */
export async function findFewRecordIds(
  db: Db,
  search: FieldSearch,
  tests: readonly FieldTest[],
  max: number,
): Promise<string[] | null> {
  const positive = tests.filter(({ mustExist }) => mustExist)
  const equal = positive.filter(hasSingleKey)
  const others = positive.filter((test) => !hasSingleKey(test)).map((test) => [test])
  for (const group of [equal, ...others]) {
    const [first, ...more] = group.map((test) => selectMatchingIds(db, search, test))
    if (!first) continue
    const ids = more.reduce((all, next) => all.intersect(next), first)
    const found = await db
      .selectFrom(ids.as('ids'))
      .select('ids.record_id')
      .limit(max + 1)
      .execute()
    if (found.length <= max) return found.map(({ record_id }) => record_id)
  }
  return null
}

function selectMatchingIds(db: Db, { projectId, collection, cursor }: FieldSearch, test: FieldTest) {
  return db
    .selectFrom('record_fields')
    .select('record_id')
    .where('project_id', '=', projectId)
    .where('path', '=', test.path)
    .where(keyMatches(sql.ref('sort_key'), test))
    .$if(collection !== undefined, (query) => query.where('collection', '=', collection ?? ''))
    .$if(cursor !== undefined, (query) => query.where('record_id', '<', cursor ?? ''))
}
