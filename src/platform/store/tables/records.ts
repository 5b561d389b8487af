import type { IsoTime, JsonText } from './column-types.ts'

export interface RecordTables {
  cases: CaseRow
  case_history: CaseHistoryRow
  records: RecordRow
  record_fields: RecordFieldRow
}

/** Work that spans several tasks, such as an order or a claim. */
export interface CaseRow {
  id: string
  project_id: string
  wedge: string
  title: string | null
  /** The stage, of those that the wedge defines. */
  stage: string
  status: string
  client_id: string | null
  /** The conversation that the case is about. */
  thread_id: string | null
  /** The member who takes care of the case. */
  assignee_id: string | null
  /** What agents and people keep about the case. */
  data: JsonText
  created_at: IsoTime
  updated_at: IsoTime
  closed_at: IsoTime | null
}

/** The changes of the stage of a case. */
export interface CaseHistoryRow {
  case_id: string
  /** The number of the change in its case. */
  n: number
  /** The stage before; null: the case was opened. */
  from_stage: string | null
  /** The stage after. */
  to_stage: string
  /** When the stage changed. */
  at: IsoTime
  /** What changed the stage: a member, a key, a task or the system. */
  by_kind: string
  /** The id of what changed the stage. */
  by_id: string
  /** A remark about the change. */
  note: string | null
}

/** A JSON value that agents keep between runs. */
export interface RecordRow {
  id: string
  project_id: string
  wedge: string
  /** The collection of the wedge that the record is in. */
  collection: string
  /** The name of the record in its collection. */
  key: string
  /** The value, any JSON. */
  value: JsonText
  version: number
  created_at: IsoTime
  updated_at: IsoTime
  /** The size of the value that the last write replaced; 0 for a new record. */
  replaced_bytes: number
}

/**
 * The index of record values: a row for each field of each record. See `src/work/records/filter/README.md`.
 */
export interface RecordFieldRow {
  /** The record. */
  record_id: string
  project_id: string
  /** The collection of the record. */
  collection: string
  /** The path of the field in the value. */
  path: string
  /** Type and value as text that sorts by its bytes like the values. */
  sort_key: string
}
