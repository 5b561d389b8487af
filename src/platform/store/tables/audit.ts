import type { IsoTime, JsonText, SecretText } from './column-types.ts'

export interface AuditTables {
  audit_entries: AuditEntryRow
  audit_heads: AuditHeadRow
  audit_checkpoints: AuditCheckpointRow
}

/** The audit log: who changed what, as a chain of hashes. */
export interface AuditEntryRow {
  /** The id of a project, or of an organisation for entries that belong to none of its projects. */
  chain: string
  /** The number of the entry in its log, without gaps. */
  seq: number
  /** When the change was made. */
  ts: IsoTime
  /** What made the change: a member, a key, a client, a task or the system. */
  actor_kind: string
  /** The id of what made the change. */
  actor_id: string
  /** What was done, such as `task.created`. */
  action: string
  /** The id of what was changed. */
  subject: string
  /** Details of the change. */
  data: JsonText
  /** The hash of the entry before. */
  prev_hash: string
  /** The hash of this entry and of the hash before. */
  hash: string
}

/** The newest entry of each audit log. */
export interface AuditHeadRow {
  /** The id of a project or an organisation. */
  chain: string
  /** The number of the newest entry. */
  seq: number
  /** The hash of the newest entry. */
  hash: string
  /** Proves that the service itself moved the head. */
  seal: SecretText | null
}

/** A signed checkpoint of an audit log. */
export interface AuditCheckpointRow {
  /** The id of a project or an organisation. */
  chain: string
  /** The number of the entry that the checkpoint is about. */
  seq: number
  /** The hash of that entry. */
  hash: string
  /** When the checkpoint was signed. */
  at: IsoTime
  /** The id of the key that signed it. */
  kid: string
  /** The signature. */
  signature: string
}
