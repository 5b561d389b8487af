import type { Json } from '../../src/base/json.ts'
import { columnsFor } from '../../src/records/columns.ts'
import { fieldsOf } from '../../src/records/fields.ts'
import { indexFields } from '../../src/records/index-fields.ts'
import { shelfOf } from '../../src/records/shelf.ts'
import { upsert } from '../../src/records/rows.ts'
import type { Store } from '../../src/store/store.ts'
import type { Records } from '../../src/store/tables.ts'

/** Writes a record with an id of its own, as the service does with one that it made up. */
export async function put(
  store: Store,
  at: Pick<Records, 'id' | 'wedge' | 'collection' | 'key'>,
  value: Json,
): Promise<void> {
  const fields = fieldsOf(value)
  const columns = await columnsFor(store, shelfOf('p', at.collection), fields)
  const then = '2026-01-01T00:00:00.000Z'
  const row = { ...at, project_id: 'p', value: JSON.stringify(value), created_at: then, updated_at: then }
  await store.transact(async (db) => {
    const [record] = await upsert(db, row)
    if (record) await indexFields(db, record, fields, columns)
  })
}
