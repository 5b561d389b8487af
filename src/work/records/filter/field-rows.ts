import { createBulkInsert } from '../../../platform/store/dialect.ts'
import { prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { RecordRow } from '../../../platform/store/tables.ts'
import { COLUMN_COUNT, type ColumnsByPath } from './column-rows.ts'
import type { RecordField } from './fields.ts'
import { hashCollection } from './collection.ts'

/** Replaces the index rows of a record. The caller has written the record, so its row is locked. */
export async function insertRecordFields(
  db: Db,
  record: RecordRow,
  fields: readonly RecordField[],
  columns: ColumnsByPath,
): Promise<void> {
  if (record.version > 1) await deleteRecordFields(db, record)
  const { id, wedge } = record
  const collectionHash = hashCollection(record.project_id, record.collection)
  await insertFields(
    db,
    fields.map(({ path, sortKey }) => [id, collectionHash, wedge, path, sortKey]),
  )
  await insertColumns(db, [[collectionHash, id, wedge, ...toColumnValues(fields, columns)]])
}

export async function deleteRecordFields(db: Db, { id, project_id, collection }: RecordRow): Promise<void> {
  await deleteFields(db, { record_id: id })
  await deleteColumns(db, { collectionHash: hashCollection(project_id, collection), record_id: id })
}

function toColumnValues(fields: readonly RecordField[], columns: ColumnsByPath): (string | null)[] {
  const keys = Array.from<string | null>({ length: COLUMN_COUNT }).fill(null)
  for (const { path, sortKey } of fields) {
    const n = columns.get(path)
    if (n !== undefined) keys[n] = sortKey
  }
  return keys
}

const insertFields = createBulkInsert('record_fields', ['record_id', 'collection_hash', 'wedge', 'path', 'sort_key'])
const insertColumns = createBulkInsert('record_columns', [
  'collection_hash',
  'record_id',
  'wedge',
  ...Array.from({ length: COLUMN_COUNT }, (_, n) => `c${n}` as const),
])

const deleteFields = prepareQuery<{ record_id: string }>((db, arg) =>
  db.deleteFrom('record_fields').where('record_id', '=', arg('record_id')).$castTo<never>(),
)

const deleteColumns = prepareQuery<{ collectionHash: string; record_id: string }>((db, arg) =>
  db
    .deleteFrom('record_columns')
    .where('collection_hash', '=', arg('collectionHash'))
    .where('record_id', '=', arg('record_id'))
    .$castTo<never>(),
)
