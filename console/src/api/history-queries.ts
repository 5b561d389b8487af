import { pagedQuery } from './paging.ts'
import type { Schemas } from './types.ts'

export interface RecordFilter {
  wedge?: string
  collection?: string
  where?: string
}

export type AuditEntry = Schemas.AuditEntry

export type AuditVerification = Schemas.AuditVerification

export const recordsQuery = (filter: RecordFilter) => pagedQuery(['records', filter], 'listRecords', filter)

export const auditQuery = (filter: { action?: string; subject?: string }) =>
  pagedQuery(['audit', filter], 'listAuditEntries', filter)
