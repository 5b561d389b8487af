import type { Json } from '../../../src/platform/base/json.ts'
import { toRecordFields } from '../../../src/work/records/filter/fields.ts'
import { insertRecordFields } from '../../../src/work/records/filter/field-rows.ts'
import { upsertRecord } from '../../../src/work/records/rows.ts'
import type { Store } from '../../../src/platform/store/store.ts'
import type { RecordRow } from '../../../src/platform/store/tables.ts'

/** Writes a record with a given id and its index, like `putRecord` does with a generated id. */
export async function putTestRecord(
  store: Store,
  { project_id = 'p', ...recordKey }: Pick<RecordRow, 'id' | 'wedge' | 'collection' | 'key'> & { project_id?: string },
  value: Json,
): Promise<void> {
  const fields = toRecordFields(value)
  const createdAt = '2026-01-01T00:00:00.000Z'
  const row = {
    ...recordKey,
    project_id,
    value: JSON.stringify(value),
    created_at: createdAt,
    updated_at: createdAt,
  }
  await store.transact(async (db) => {
    const [record] = await upsertRecord(db, row)
    if (record) await insertRecordFields(db, record, fields)
  })
}
