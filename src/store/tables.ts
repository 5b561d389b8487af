/**
 * The rows, one interface a table. Text, integer and real columns only: JSON and ISO times are text, truth is 0 or 1,
 * money is whole micro-dollars. So one schema serves both stores.
 */
type Flag = 0 | 1

export interface OrganisationRow {
  id: string
  name: string
  created_at: string
  /** 1 for the one that the first start made; unique, so replicas that start together make one. */
  founding: 1 | null
}

export interface ProjectRow {
  id: string
  org_id: string
  slug: string
  name: string
  tier: string
  /** JSON list of enabled wedge slugs; null: all. */
  wedges: string | null
  created_at: string
}

export interface MemberRow {
  id: string
  org_id: string
  email: string
  name: string | null
  role: string
  /** scrypt; null while the invitation is open. */
  password: string | null
  invite_hash: string | null
  invite_expires_at: string | null
  created_at: string
}

export interface KeyRow {
  id: string
  project_id: string
  name: string
  role: string
  hash: string
  hint: string
  created_at: string
  last_used_at: string | null
}

export interface SessionRow {
  hash: string
  member_id: string
  created_at: string
  expires_at: string
}

/** Failed sign-ins by address and by account, in fixed windows. */
export interface LoginFailureRow {
  subject: string
  window_start: string
  count: number
}

export interface ReplicaRow {
  id: string
  started_at: string
  seen_at: string
}

export interface TaskRow {
  id: string
  project_id: string
  wedge: string
  task_type: string
  status: string
  input: string
  actor: string
  constraints: string
  tools: string
  output_schema: string | null
  output: string | null
  error: string | null
  cost_micros: number
  client_id: string | null
  thread_id: string | null
  channel_id: string | null
  case_id: string | null
  schedule_id: string | null
  retry_of: string | null
  /** The number of the newest event: the head of the task's log. */
  last_event_id: number
  /** Raised by every claim; a writer with an older epoch has lost its lease and cannot write any more. */
  epoch: number
  replica: string | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  /** When retention took the log and the files; the row itself stays. */
  log_pruned_at: string | null
}

export interface IdempotencyKeyRow {
  project_id: string
  key: string
  body_hash: string
  task_id: string
  created_at: string
}

/** The last creations of a project in a ring: creation n may pass once creation n − limit is a minute old. */
export interface RateRingRow {
  project_id: string
  slot: number
  at: number
}

export interface EventRow {
  task_id: string
  seq: number
  type: string
  ts: string
  data: string
}

/** A task as the runner takes it: with what its project pays for. */
export type QueuedTask = TaskRow & Pick<ProjectRow, 'tier'>

export interface ArtifactRow {
  id: string
  project_id: string
  task_id: string
  name: string
  content_type: string
  size: number
  created_at: string
}

/** `output.json` has none: it is the task's output, and not kept twice. */
export interface ArtifactFileRow {
  artifact_id: string
  /** Base64. */
  content: string
}

export interface ApprovalRow {
  id: string
  project_id: string
  task_id: string
  wedge: string
  task_type: string
  action: string
  risk: string
  path: string
  payload: string
  payload_sha256: string
  edited: string | null
  status: string
  policy_reason: string | null
  policy_rule: string | null
  reason: string | null
  note: string | null
  connection_id: string | null
  /** Its name when the question was put. */
  connection: string | null
  created_at: string
  expires_at: string | null
  decided_at: string | null
  decided_by_kind: string | null
  decided_by_id: string | null
}

/** The effect ledger: one row per external effect, claimed before the call leaves. */
export interface EffectRow {
  approval_id: string
  project_id: string
  task_id: string
  connection_id: string
  connection: string
  action: string
  payload_sha256: string
  /** `sent` until an outcome is known; what a crash leaves as `sent` becomes `unknown`, never a second call. */
  outcome: string
  status: number | null
  error: string | null
  replica: string
  created_at: string
  finished_at: string | null
}

/** Uses of an auto-approve rule; `span` is `task:<id>` or `day:<UTC day>`. */
export interface PolicyCounterRow {
  project_id: string
  rule: string
  span: string
  used: number
}

export interface ConnectionRow {
  id: string
  project_id: string
  owner_kind: string
  owner_id: string
  kind: string
  name: string
  config: string
  secret_ref: string | null
  /** The provider account that a broker authorisation has begun for; moves into config once it is ACTIVE. */
  pending_account: string | null
  last_ok_at: string | null
  last_error: string | null
  last_error_at: string | null
  created_at: string
  updated_at: string
}

export interface VaultRow {
  project_id: string
  key: string
  connection_id: string
  kind: string
  envelope: string
  updated_at: string
}

export interface ChannelRow {
  id: string
  project_id: string
  connection_id: string
  address: string
  wedge: string
  task_type: string
  created_at: string
}

export interface ClientRow {
  id: string
  project_id: string
  display_name: string | null
  metadata: string
  created_at: string
  updated_at: string
}

export interface ClientHandleRow {
  project_id: string
  /** Lower case: handles are compared without case. */
  handle: string
  shown: string
  client_id: string
}

export interface PortalLinkRow {
  hash: string
  project_id: string
  client_id: string
  created_at: string
  expires_at: string
  used_at: string | null
  revoked_at: string | null
}

export interface ClientSessionRow {
  hash: string
  project_id: string
  client_id: string
  created_at: string
  expires_at: string
}

export interface ThreadRow {
  id: string
  project_id: string
  channel_id: string
  client_id: string
  subject: string | null
  status: string
  /** The number of the newest message. */
  message_count: number
  created_at: string
  updated_at: string
}

export interface MessageRow {
  id: string
  /** Its place in the thread: ids of one millisecond have no order. */
  n: number
  project_id: string
  thread_id: string
  channel_id: string
  direction: string
  from_handle: string | null
  from_name: string | null
  body: string
  subject: string | null
  task_id: string | null
  external_id: string | null
  /** JSON list of the addresses that a mail went to; null for what was said in the thread itself. */
  recipients: string | null
  created_at: string
}

export interface KnowledgeRow {
  id: string
  project_id: string
  wedge: string
  name: string
  content: string
  kind: string
  source: string | null
  metadata: string
  task_id: string | null
  version: number
  created_at: string
  updated_at: string
}

export interface KnowledgeRevisionRow {
  knowledge_id: string
  project_id: string
  version: number
  name: string
  content: string
  kind: string
  by_kind: string
  by_id: string
  at: string
}

export interface IntakeQuestionRow {
  id: string
  project_id: string
  wedge: string
  /** The manifest's id of a seed; a hash of the words of a gap, so the same question is one row. */
  question_id: string
  question: string
  why: string | null
  kind: string
  status: string
  answer: string | null
  knowledge_id: string | null
  task_id: string | null
  asked: number
  created_at: string
  updated_at: string
}

export interface CaseRow {
  id: string
  project_id: string
  wedge: string
  title: string | null
  stage: string
  status: string
  client_id: string | null
  data: string
  created_at: string
  updated_at: string
  closed_at: string | null
}

export interface CaseHistoryRow {
  case_id: string
  n: number
  from_stage: string | null
  to_stage: string
  at: string
  by_kind: string
  by_id: string
  note: string | null
}

export interface RecordRow {
  id: string
  project_id: string
  wedge: string
  collection: string
  key: string
  value: string
  version: number
  created_at: string
  updated_at: string
}

/**
 * What `where` can ask for: a row for each field of each record's value. So a filter is answered from an index, with the
 * same meaning on both stores, and without reading any value.
 */
export interface RecordFieldRow {
  record_id: string
  /** A short hash of project and collection. */
  shelf: string
  wedge: string
  path: string
  /** Type and value as text that sorts by its bytes as the values do. */
  sort_key: string
}

/** Which column tells a path of a shelf. */
export interface RecordPathRow {
  shelf: string
  path: string
  n: number
}

/**
 * The fields of a record side by side, as far as their paths have a column: what many records of a collection fulfil is
 * tried here, each by one row.
 */
export interface RecordColumnsRow {
  shelf: string
  record_id: string
  wedge: string
  /** The sort key, or a shorter one that tells the same. */
  [column: `c${number}`]: string | null
}

export interface ScheduleRow {
  id: string
  project_id: string
  name: string
  wedge: string
  task_type: string
  cadence: string
  input: string
  enabled: Flag
  client_id: string | null
  case_id: string | null
  blueprint: string | null
  anchor_at: string
  next_run_at: string | null
  last_run_at: string | null
  last_task_id: string | null
  last_error: string | null
  created_at: string
  updated_at: string
}

/** One row per due time that fired: its key makes a slot fire once over all replicas. */
export interface ScheduleSlotRow {
  schedule_id: string
  slot: string
  task_id: string | null
}

export interface BlueprintInstallRow {
  project_id: string
  blueprint: string
  active: Flag
  created_at: string
  activated_at: string | null
}

export interface AuditEntryRow {
  /** A project's id; an organisation's for what happens above its projects. */
  chain: string
  seq: number
  ts: string
  actor_kind: string
  actor_id: string
  action: string
  subject: string
  data: string
  prev_hash: string
  hash: string
}

export interface AuditHeadRow {
  chain: string
  seq: number
  hash: string
  /** Says that the service itself moved the head there (`audit/seal.ts`). */
  seal: string | null
}

export interface AuditCheckpointRow {
  chain: string
  seq: number
  hash: string
  at: string
  kid: string
  signature: string
}

/** How far a project's tasks or approvals are folded into sums: every row up to this id is in them, or is in `report_open`. */
export interface ReportMarkRow {
  project_id: string
  source: string
  folded_to: string
}

/** Rows behind the mark that were not final when it passed. */
export interface ReportOpenRow {
  project_id: string
  source: string
  id: string
}

export interface ReportRunRow {
  project_id: string
  day: string
  wedge: string
  status: string
  runs: number
  cost_micros: number
}

export interface ReportClientRow {
  project_id: string
  /** A day, and once more its month and its year: long times are then few rows a client. */
  span: string
  client_id: string
  runs: number
  cost_micros: number
}

export interface ReportApprovalRow {
  project_id: string
  /** A day, and once more its month and its year. */
  span: string
  status: string
  /** How long a person took, roughly; -1 where nobody decided. */
  wait_ms: number
  n: number
}

export interface WebhookRow {
  id: string
  project_id: string
  url: string
  /** JSON list of the notices that it gets. */
  events: string
  enabled: Flag
  /** Until when the secret before the last rotation signs too. */
  previous_until: string | null
  created_at: string
  updated_at: string
}

/** A notice on its way to one webhook. What it says follows from the row, so no payload is kept. */
export interface WebhookDeliveryRow {
  webhook_id: string
  /** The notice's own id, by which a receiver knows it again; the same for all webhooks that get it. */
  id: string
  project_id: string
  event: string
  subject: string
  status: string
  attempts: number
  /** When it is due; while it is being sent, when the sender counts as lost. */
  next_at: string | null
  last_status: number | null
  last_error: string | null
  created_at: string
  delivered_at: string | null
}

export interface Tables {
  organisations: OrganisationRow
  projects: ProjectRow
  members: MemberRow
  keys: KeyRow
  sessions: SessionRow
  login_failures: LoginFailureRow
  replicas: ReplicaRow
  tasks: TaskRow
  idempotency_keys: IdempotencyKeyRow
  rate_ring: RateRingRow
  events: EventRow
  artifacts: ArtifactRow
  artifact_files: ArtifactFileRow
  approvals: ApprovalRow
  effects: EffectRow
  policy_counters: PolicyCounterRow
  connections: ConnectionRow
  vault: VaultRow
  channels: ChannelRow
  clients: ClientRow
  client_handles: ClientHandleRow
  portal_links: PortalLinkRow
  client_sessions: ClientSessionRow
  threads: ThreadRow
  messages: MessageRow
  knowledge: KnowledgeRow
  knowledge_revisions: KnowledgeRevisionRow
  intake_questions: IntakeQuestionRow
  cases: CaseRow
  case_history: CaseHistoryRow
  records: RecordRow
  record_fields: RecordFieldRow
  record_paths: RecordPathRow
  record_columns: RecordColumnsRow
  schedules: ScheduleRow
  schedule_slots: ScheduleSlotRow
  blueprint_installs: BlueprintInstallRow
  audit_entries: AuditEntryRow
  audit_heads: AuditHeadRow
  audit_checkpoints: AuditCheckpointRow
  webhooks: WebhookRow
  webhook_deliveries: WebhookDeliveryRow
  report_marks: ReportMarkRow
  report_open: ReportOpenRow
  report_runs: ReportRunRow
  report_clients: ReportClientRow
  report_approvals: ReportApprovalRow
}
