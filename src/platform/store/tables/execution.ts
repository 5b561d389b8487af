import type { Flag, IsoTime, JsonText } from './column-types.ts'

export interface ExecutionTables {
  replicas: ReplicaRow
  commit_marks: CommitMarkRow
  run_states: RunStateRow
  transcripts: TranscriptRow
}

/** A running process of the service, with its heartbeat. */
export interface ReplicaRow {
  id: string
  started_at: IsoTime
  /** The last heartbeat. */
  seen_at: IsoTime
  /** Null for a replica of an older version, which executes tasks. */
  max_tasks: number | null
  /** The only projects, and wedges, whose tasks it executes, as JSON lists; null: all. */
  runner_projects: JsonText | null
  /** The only wedges whose tasks it executes, as a JSON list; null: all. */
  runner_wedges: JsonText | null
}

/** The last transaction of a connection whose outcome may have to be looked up; only on PostgreSQL. */
export interface CommitMarkRow {
  /** A random id of the connection. */
  connection: string
  /** The number of the transaction: even if it was committed, odd if its outcome was looked up before. */
  number: number
  /** When the transaction wrote the row, by the clock of the replica. */
  written_at: IsoTime
}

/** What another process needs to continue a run. It exists while the run waits for a person, or may be resumed. */
export interface RunStateRow {
  task_id: string
  /** 1: the run continues after the death of its replica even if it does not wait. */
  is_resumable: Flag
  /** The brief without its tokens. */
  brief: JsonText
  /** The last checkpoint of a custom agent. */
  checkpoint: JsonText | null
  /** A JSON array of `OpenRequest`: the approvals that were asked for since the last result or checkpoint. */
  requests: JsonText
  /** What the run has spent on models, in millionths of a US dollar. */
  spent_micros: number
  /** The number of reads through connections. */
  read_count: number
  /** The number of questions that the agent has added to the intake. */
  gap_count: number
  /** The bytes of the events and files of the run. */
  stored_bytes: number
  /** How long the run has worked, without its waits, in milliseconds. */
  worked_ms: number
  /** How often the run was resumed since this row was last stored by a run. */
  resumes: number
}

/** Entries of the conversation of a run, in the order in which they were stored. */
export interface TranscriptRow {
  task_id: string
  /** The number of the row in its task. */
  seq: number
  /** A JSON array of `TranscriptEntry`. */
  entries: JsonText
}
