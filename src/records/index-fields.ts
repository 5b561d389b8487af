import { manyRows } from '../store/dialect.ts'
import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { Records } from '../store/tables.ts'
import { COLUMNS, type Columns, columnKey } from './columns.ts'
import type { Field } from './fields.ts'
import { shelfOf } from './shelf.ts'

/** The index of a record says what its value says now. The record's row is locked by the change before. */
export async function indexFields(db: Db, record: Records, fields: readonly Field[], columns: Columns): Promise<void> {
  if (record.version > 1) await forgetFields(db, record)
  const { id, wedge } = record
  const shelf = shelfOf(record.project_id, record.collection)
  await insertFields(
    db,
    fields.map(({ path, sortKey }) => [id, shelf, wedge, path, sortKey]),
  )
  await insertColumns(db, [[shelf, id, wedge, ...columnsOf(fields, columns)]])
}

export async function forgetFields(db: Db, { id, project_id, collection }: Records): Promise<void> {
  await dropFields(db, { record_id: id })
  await dropColumns(db, { shelf: shelfOf(project_id, collection), record_id: id })
}

function columnsOf(fields: readonly Field[], columns: Columns): (string | null)[] {
  const keys = Array.from<string | null>({ length: COLUMNS }).fill(null)
  for (const { path, sortKey } of fields) {
    const n = columns.get(path)
    if (n !== undefined) keys[n] = columnKey(sortKey)
  }
  return keys
}

const insertFields = manyRows('record_fields', ['record_id', 'shelf', 'wedge', 'path', 'sort_key'])
const insertColumns = manyRows('record_columns', [
  'shelf',
  'record_id',
  'wedge',
  ...Array.from({ length: COLUMNS }, (_, n) => `c${n}` as const),
])

const dropFields = prepared<{ record_id: string }>((db, arg) =>
  db.deleteFrom('record_fields').where('record_id', '=', arg('record_id')).$castTo<never>(),
)

const dropColumns = prepared<{ shelf: string; record_id: string }>((db, arg) =>
  db
    .deleteFrom('record_columns')
    .where('shelf', '=', arg('shelf'))
    .where('record_id', '=', arg('record_id'))
    .$castTo<never>(),
)
