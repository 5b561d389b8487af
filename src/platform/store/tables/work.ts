import type { IsoTime, JsonText } from './column-types.ts'
import type { ProjectRow } from './identity.ts'

export interface WorkTables {
  tasks: TaskRow
  idempotency_keys: IdempotencyKeyRow
  events: EventRow
  artifacts: ArtifactRow
  artifact_files: ArtifactFileRow
  files: FileRow
  file_chunks: FileChunkRow
  task_files: TaskFileRow
}

/** A task: one piece of work for an agent or a workflow, with its input, its state and its result. */
export interface TaskRow {
  id: string
  project_id: string
  wedge: string
  task_type: string
  status: string
  /** The input that the caller gave. */
  input: JsonText
  /** The actor that the caller named for the task, which the agent sees. */
  actor: JsonText
  /** The limits of the task: cost, time and number of steps. */
  constraints: JsonText
  /** The tools that the agent may use. */
  tools: JsonText
  /** The JSON Schema that the output must match; null: that of the task type. */
  output_schema: JsonText | null
  /** The result; null until the task has succeeded. */
  output: JsonText | null
  /** Why the task did not succeed, as `reason` and `message`; null otherwise. */
  error: JsonText | null
  /** What the models charged, in millionths of a US dollar. */
  cost_micros: number
  client_id: string | null
  thread_id: string | null
  channel_id: string | null
  case_id: string | null
  schedule_id: string | null
  /** The task that this one repeats. */
  retry_of: string | null
  /** Who asked for the work: a member, a key, a client or the service. Null for tasks from before this was kept. */
  requested_by_kind: string | null
  /** The id of the member, key or client that asked for the work. */
  requested_by_id: string | null
  /** The number of the newest event in the task's log. */
  last_event_id: number
  /** The number of the last event that is in the stored bytes of the project. */
  counted_events: number
  /** Raised by every claim. A writer with an older epoch has lost its lease and cannot write. */
  epoch: number
  /** The replica that executes the task; null: none does. */
  replica: string | null
  /** The run does not start before this time: more messages may come. Null: at once. */
  ready_at: IsoTime | null
  created_at: IsoTime
  started_at: IsoTime | null
  finished_at: IsoTime | null
  /** When retention deleted the log and the files; the row itself stays. */
  log_pruned_at: IsoTime | null
  /** The trace of the request that created the task, as its headers said; null without one. */
  traceparent: string | null
  /** The vendor part of the trace of the request that created the task. */
  tracestate: string | null
}

/** The Idempotency-Key of a request that created a task, so that a repetition creates no second one. */
export interface IdempotencyKeyRow {
  project_id: string
  /** The value of the header. */
  key: string
  /** A hash of the body, because another body with the same key is refused. */
  body_hash: string
  task_id: string
  created_at: IsoTime
}

/** The log of the tasks: what happened in each of them, in order. */
export interface EventRow {
  task_id: string
  /** The number of the event in its task, without gaps. */
  seq: number
  /** The type of the event, such as `action.completed`. */
  type: string
  /** When the event happened. */
  ts: IsoTime
  /** What happened, in the form of the type. */
  data: JsonText
}

/** A task as the runner claims it, with the tier of its project. */
export type QueuedTask = TaskRow & Pick<ProjectRow, 'tier'>

/** A file that a run produced. */
export interface ArtifactRow {
  id: string
  project_id: string
  task_id: string
  name: string
  content_type: string
  /** In bytes. */
  size: number
  /** Where the bytes are. */
  storage: 'database' | 's3'
  created_at: IsoTime
}

/** `output.json` has no row: its content is the output of the task. */
export interface ArtifactFileRow {
  artifact_id: string
  /** Base64. */
  content: string
}

/** A file that a person, a client or a channel brought in. */
export interface FileRow {
  id: string
  project_id: string
  /** The client whose file it is: only tasks of this client and tasks without a client may use it. Null: the team's. */
  client_id: string | null
  name: string
  content_type: string
  /** In bytes. */
  size: number
  /** The hash of the bytes. */
  sha256: string
  /** Callers see only `stored` files: the bytes of the others are still arriving, or are about to be removed. */
  state: 'uploading' | 'stored' | 'deleted'
  /** Where the bytes are: `database` or `s3`. */
  storage: 'database' | 's3'
  /** The id of the multipart upload, while the bytes go to S3 in several parts. */
  upload_id: string | null
  /** JSON of the actor. */
  created_by: JsonText
  created_at: IsoTime
}

/** A part of a file that is stored in the database. */
export interface FileChunkRow {
  file_id: string
  /** The position in the file. */
  n: number
  /** Base64. */
  content: string
}

/** The files of a task, in their order. */
export interface TaskFileRow {
  task_id: string
  /** The position in the list. */
  n: number
  file_id: string
}
