import { pagedQuery } from './paging.ts'
import type { Json, JsonObject } from './types.ts'

/** Types and queries of records and of the audit log. */
export interface StoredRecord {
  id: string
  wedge: string
  collection: string
  key: string
  value: Json
  version: number
  updated_at: string
}

export interface RecordFilter {
  wedge?: string
  collection?: string
  where?: string
}

export interface AuditEntry {
  seq: number
  ts: string
  actor: { kind: string; id: string }
  action: string
  subject: string
  data: JsonObject
  hash: string
}

export interface AuditVerification {
  ok: boolean
  entries: number
  head: string | null
  first_bad_seq: number | null
  problem: string | null
  sealed_from: number | null
  checkpoints: { signed: number; not_verifiable: number }
}

export const recordsQuery = (filter: RecordFilter) =>
  pagedQuery<StoredRecord>(['records', filter], '/v1/records', { ...filter })

export const auditQuery = (filter: { action?: string; subject?: string }) =>
  pagedQuery<AuditEntry>(['audit', filter], '/v1/audit', { ...filter })
