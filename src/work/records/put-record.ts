import { countStoredBytes, reserveStoredBytes } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import type { Json } from '../../platform/base/json.ts'
import { conflict } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { RecordRow } from '../../platform/store/tables.ts'
import { toRecordFields } from './filter/fields.ts'
import { deleteRecordFields, insertRecordFields } from './filter/field-rows.ts'
import {
  deleteRecord,
  findRecordByKey,
  insertRecordIfNew,
  type NewRecord,
  updateRecordVersion,
  upsertRecord,
} from './rows.ts'

export interface RecordEntry {
  wedge: string
  collection: string
  key: string
  value: Json
  /** The version that this write replaces, 0 for a new record; without it the last writer wins. */
  version?: number | undefined
}

/** Creates or replaces the record of (wedge, collection, key). */
export async function putRecord(
  ctx: Ctx,
  projectId: string,
  entry: RecordEntry,
  actor: Actor,
): Promise<{ record: RecordRow; isNew: boolean }> {
  const fields = toRecordFields(entry.value)
  return inTx(ctx, async (tx) => {
    const record = await writeRecord(tx, projectId, entry)
    reserveStoredBytes(tx, projectId, Buffer.byteLength(record.value) - record.replaced_bytes)
    await insertRecordFields(tx.db, record, fields)
    const isNew = record.version === 1
    const { wedge, collection, key, version } = record
    const action = isNew ? 'record.created' : 'record.replaced'
    await appendAuditEntry(tx, projectId, actor, action, record.id, { wedge, collection, key, version })
    return { record, isNew }
  })
}

/** Returns false if the record no longer exists. */
export function removeRecord(ctx: Ctx, record: RecordRow, actor: Actor): Promise<boolean> {
  return inTx(ctx, async (tx) => {
    const deleted = await deleteRecord(tx.db, record.id)
    if (!deleted) return false
    countStoredBytes(tx, record.project_id, -deleted.bytes)
    await deleteRecordFields(tx.db, { record_id: record.id })
    const { wedge, collection, key } = record
    await appendAuditEntry(tx, record.project_id, actor, 'record.deleted', record.id, { wedge, collection, key })
    return true
  })
}

async function writeRecord(tx: Tx, projectId: string, entry: RecordEntry): Promise<RecordRow> {
  const now = toIsoTime(tx.world.clock.now())
  const recordKey = { project_id: projectId, wedge: entry.wedge, collection: entry.collection, key: entry.key }
  const row = {
    ...recordKey,
    id: tx.world.newId('rec'),
    value: JSON.stringify(entry.value),
    created_at: now,
    updated_at: now,
  }
  const [record] = await writeVersion(tx, row, entry.version)
  if (record) return record
  const existing = await findRecordByKey(tx.db, recordKey)
  throw conflict(existing ? `record has version ${existing.version}` : 'record does not exist yet', {
    version: existing?.version ?? 0,
  })
}

function writeVersion(tx: Tx, row: NewRecord, version: number | undefined): Promise<RecordRow[]> {
  if (version === undefined) return upsertRecord(tx.db, row)
  return version === 0 ? insertRecordIfNew(tx.db, row) : updateRecordVersion(tx.db, { ...row, version })
}
