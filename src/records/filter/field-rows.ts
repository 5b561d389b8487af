import { createBulkInsert } from '../../store/dialect.ts'
import { prepareQuery } from '../../store/prepared-query.ts'
import type { Db } from '../../store/store.ts'
import type { RecordRow } from '../../store/tables.ts'
import { COLUMN_COUNT, type ColumnsByPath } from './column-rows.ts'
import type { RecordField } from './fields.ts'
import { hashCollection } from './collection.ts'

/** Replaces the index of a record. The write of the record has locked its row. */
export async function insertRecordFields(
  db: Db,
  record: RecordRow,
  fields: readonly RecordField[],
  columns: ColumnsByPath,
): Promise<void> {
  if (record.version > 1) await deleteRecordFields(db, record)
  const { id, wedge } = record
  const shelf = hashCollection(record.project_id, record.collection)
  await insertFields(
    db,
    fields.map(({ path, sortKey }) => [id, shelf, wedge, path, sortKey]),
  )
  await insertColumns(db, [[shelf, id, wedge, ...columnsOf(fields, columns)]])
}

export async function deleteRecordFields(db: Db, { id, project_id, collection }: RecordRow): Promise<void> {
  await dropFields(db, { record_id: id })
  await dropColumns(db, { shelf: hashCollection(project_id, collection), record_id: id })
}

function columnsOf(fields: readonly RecordField[], columns: ColumnsByPath): (string | null)[] {
  const keys = Array.from<string | null>({ length: COLUMN_COUNT }).fill(null)
  for (const { path, sortKey } of fields) {
    const n = columns.get(path)
    if (n !== undefined) keys[n] = sortKey
  }
  return keys
}

const insertFields = createBulkInsert('record_fields', ['record_id', 'shelf', 'wedge', 'path', 'sort_key'])
const insertColumns = createBulkInsert('record_columns', [
  'shelf',
  'record_id',
  'wedge',
  ...Array.from({ length: COLUMN_COUNT }, (_, n) => `c${n}` as const),
])

const dropFields = prepareQuery<{ record_id: string }>((db, arg) =>
  db.deleteFrom('record_fields').where('record_id', '=', arg('record_id')).$castTo<never>(),
)

const dropColumns = prepareQuery<{ shelf: string; record_id: string }>((db, arg) =>
  db
    .deleteFrom('record_columns')
    .where('shelf', '=', arg('shelf'))
    .where('record_id', '=', arg('record_id'))
    .$castTo<never>(),
)
