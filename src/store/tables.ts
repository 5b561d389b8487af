/**
 * The rows, one interface for each table. Columns are text or numbers, so that one schema serves both stores: JSON and ISO
 * times are text, booleans are 0 or 1, and money is whole micro-dollars.
 */
type Flag = 0 | 1

export interface OrganisationRow {
  id: string
  name: string
  created_at: string
  /** 1 for the organisation that the first start created; unique, so that replicas that start together create one. */
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

/** The bytes of a project's records, and of the events and files of its finished tasks. */
export interface StorageUsageRow {
  project_id: string
  bytes: number
}

export interface MemberRow {
  id: string
  org_id: string
  email: string
  name: string | null
  role: string
  /** A scrypt hash; null while the invitation is open. */
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

/** Failed sign-ins by IP address and by account, in fixed time windows. */
export interface LoginFailureRow {
  subject: string
  window_start: string
  count: number
}

export interface ReplicaRow {
  id: string
  started_at: string
  seen_at: string
  /** Null for a replica of an older version, which executes tasks. */
  max_tasks: number | null
  /** The only projects, and wedges, whose tasks it executes, as JSON lists; null: all. */
  runner_projects: string | null
  runner_wedges: string | null
}

/** The last transaction of a connection whose outcome may have to be looked up; only on PostgreSQL. */
export interface CommitMarkRow {
  connection: string
  number: number
  written_at: string
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
  /** Who asked for the work: a member, a key, a client or the service. Null for tasks from before this was kept. */
  requested_by_kind: string | null
  requested_by_id: string | null
  /** The number of the newest event in the task's log. */
  last_event_id: number
  /** The number of the last event that is in the stored bytes of the project. */
  counted_events: number
  /** Raised by every claim. A writer with an older epoch has lost its lease and cannot write. */
  epoch: number
  replica: string | null
  /** The run does not start before this time: more messages may come. Null: at once. */
  ready_at: string | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  /** When retention deleted the log and the files; the row itself stays. */
  log_pruned_at: string | null
  /** The trace of the request that created the task, as its headers said; null without one. */
  traceparent: string | null
  tracestate: string | null
}

export interface IdempotencyKeyRow {
  project_id: string
  key: string
  body_hash: string
  task_id: string
  created_at: string
}

/** The times of a project's last creations in a ring: creation n is allowed once creation n − limit is a minute old. */
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

/** Entries of the conversation of a run, in the order in which they were stored. */
export interface TranscriptRow {
  task_id: string
  seq: number
  /** A JSON array of `TranscriptEntry`. */
  entries: string
}

/** What another process needs to continue a run. It exists while the run waits for a person, or may be resumed. */
export interface RunStateRow {
  task_id: string
  /** 1: the run continues after the death of its replica even if it does not wait. */
  is_resumable: 0 | 1
  /** The brief without its tokens. */
  brief: string
  /** The last checkpoint of a custom agent. */
  checkpoint: string | null
  /** A JSON array of `OpenRequest`: the approvals that were asked for since the last result or checkpoint. */
  requests: string
  spent_micros: number
  read_count: number
  gap_count: number
  stored_bytes: number
  worked_ms: number
  /** How often the run was resumed since this row was last stored by a run. */
  resumes: number
}

/** A task as the runner claims it, with the tier of its project. */
export type QueuedTask = TaskRow & Pick<ProjectRow, 'tier'>

export interface ArtifactRow {
  id: string
  project_id: string
  task_id: string
  name: string
  content_type: string
  size: number
  /** Where the bytes are. */
  storage: 'database' | 's3'
  created_at: string
}

/** `output.json` has no row: its content is the output of the task. */
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
  /** 1: a person sent a rejected request back with a note (`reason`), and the task continues. */
  revise: number
  note: string | null
  connection_id: string | null
  /** The name of the connection when the approval was requested. */
  connection: string | null
  /** The client who may answer a question; null: only the team decides. */
  client_id: string | null
  /** JSON: the tool that the action calls, as it was when the approval was requested; null without a named tool. */
  tool: string | null
  created_at: string
  expires_at: string | null
  decided_at: string | null
  decided_by_kind: string | null
  decided_by_id: string | null
  /** How many people must approve the same payload. */
  needed: number
  /** JSON list of roles and members who may decide; null: every member and key whose role allows decisions. */
  approvers: string | null
  /** 1: the member or key that started the task may not decide. */
  excludes_requester: Flag
  /** JSON: when to ask more people, and whom. */
  escalate: string | null
  /** When the last step of `escalate` was taken that is past. */
  escalated_at: string | null
  /** When people are told next: of the request, or by a step of `escalate`; null: nobody is. */
  notify_at: string | null
  /** The member who is asked to decide. Others may decide as well. */
  assignee_id: string | null
  /** Grows with each vote while it is pending: messages that show an older one are rewritten. */
  version: number
  /** 1: there may be messages to members that show the request as pending. */
  has_messages: Flag
}

/** One person's approval of a request that needs several. Only votes for the current payload count. */
export interface ApprovalVoteRow {
  approval_id: string
  project_id: string
  voter_kind: string
  voter_id: string
  payload_sha256: string
  created_at: string
}

export interface ApprovalCommentRow {
  id: string
  project_id: string
  approval_id: string
  body: string
  author_kind: string
  author_id: string
  created_at: string
}

/** The service through which a project tells its members of approvals: one of each kind. */
export interface NotifierRow {
  id: string
  project_id: string
  kind: 'slack' | 'telegram' | 'mail'
  connection_id: string
  created_at: string
}

/** What a project, or one member of it, wants to be told of, when and where. */
export interface NotificationSettingsRow {
  project_id: string
  /** Empty for the settings of the project. */
  member_id: string
  settings: string
  updated_at: string
}

/** Where a member gets messages of one kind. */
export interface NotificationLinkRow {
  project_id: string
  member_id: string
  kind: 'slack' | 'telegram' | 'mail'
  /** The user id at Slack, the chat id at Telegram, or the mail address. */
  address: string
  linked_at: string
}

/** A code that links the account from which it is sent to a member, or that confirms a mail address. */
export interface NotificationCodeRow {
  hash: string
  project_id: string
  member_id: string
  kind: 'slack' | 'telegram' | 'mail'
  address: string | null
  expires_at: string
}

/** A message about an approval to one member. It is rewritten after each vote, and when the approval is decided. */
export interface NotificationMessageRow {
  id: string
  project_id: string
  approval_id: string
  member_id: string
  kind: 'slack' | 'telegram' | 'mail'
  address: string
  state: 'waiting' | 'sent' | 'failed' | 'dropped'
  /** 1: it is sent together with the other waiting messages to the member. */
  is_digest: Flag
  due_at: string
  attempts: number
  /** The replica that sends it, until `claimed_until`. */
  claimed_by: string | null
  claimed_until: string | null
  /** The id of the provider, which is needed to rewrite the message. */
  external_id: string | null
  /** What the message shows: the status of the approval. */
  shown: string
  /** The `version` of the approval that the message shows. */
  shown_version: number
  error: string | null
  created_at: string
  sent_at: string | null
}

/** The link of a mail to the page where its reader decides. It works once, for one member and one approval. */
export interface DecisionLinkRow {
  hash: string
  project_id: string
  approval_id: string
  member_id: string
  expires_at: string
  used_at: string | null
}

/** The effect ledger: one row for each external effect, inserted before the call is sent. */
export interface EffectRow {
  /** The approval; for a member's own answer in a thread the id of the message. */
  approval_id: string
  project_id: string
  /** Null for a member's own answer in a thread. */
  task_id: string | null
  connection_id: string
  connection: string
  action: string
  payload_sha256: string
  /** `sent` until the outcome is known. After a crash `sent` becomes `unknown`; only a person lets it be sent again. */
  outcome: string
  status: number | null
  error: string | null
  /** The `ActionResult`, for a run that another process may continue; null if it is not known or not needed. */
  result: string | null
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

/** A version of the rules that a project has saved for a wedge. The newest version applies. */
export interface WedgePolicyRow {
  project_id: string
  wedge: string
  /** Counted from 1. */
  version: number
  /** JSON list of rules; null: from this version on the rules of the wedge's folder apply. */
  auto_approve: string | null
  actor_kind: string
  actor_id: string
  created_at: string
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
  /** The provider account of a broker authorisation that is not finished; moves into `config` once it is ACTIVE. */
  pending_account: string | null
  last_ok_at: string | null
  last_error: string | null
  last_error_at: string | null
  created_at: string
  updated_at: string
}

/** A tool of an MCP server. */
export interface ConnectionToolRow {
  connection_id: string
  name: string
  description: string
  input_schema: string
  annotations: string
  /** Of the server's address and the tool's name, description and schema. */
  hash: string
  class: 'read' | 'ask' | 'off'
  state: 'confirmed' | 'new' | 'changed'
  /** The server's order. */
  position: number
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

/** An authorisation that waits for the callback of the provider. A connection has at most one. */
export interface OauthFlowRow {
  connection_id: string
  project_id: string
  /** The state itself is only in the URL that the person opens. */
  state_hash: string
  /** Seals the code verifier and the token endpoint. */
  envelope: string
  /** The path of this service that the browser is sent to afterwards. */
  return_to: string
  /** JSON of the actor that started it. */
  actor: string
  expires_at: string
}

/** Lets one replica at a time request tokens for a connection. */
export interface TokenLockRow {
  connection_id: string
  /** Raised by every holder, so that a holder whose lock expired cannot release the lock of the next one. */
  attempt: number
  /** Free once this time has passed: a replica that died does not block the others. */
  expires_at: string
  /** Why the last attempt failed. Callers that waited for it fail with the same sentence. */
  error: string | null
}

export interface ChannelRow {
  id: string
  project_id: string
  connection_id: string
  address: string
  wedge: string
  task_type: string
  /** Null: messages come through `/inbound` only. */
  adapter: string | null
  /** JSON, in the form of the adapter. */
  config: string
  /** How long the task of a message waits for more messages. */
  settle_s: number
  /** JSON: what an adapter that fetches messages has read so far. */
  progress: string | null
  /** The replica that fetches the messages, until `poller_until`. */
  poller: string | null
  poller_until: string | null
  last_received_at: string | null
  last_error: string | null
  last_error_at: string | null
  created_at: string
}

/** A file that a person, a client or a channel brought in. */
export interface FileRow {
  id: string
  project_id: string
  /** The client whose file it is: only tasks of this client and tasks without a client may use it. Null: the team's. */
  client_id: string | null
  name: string
  content_type: string
  size: number
  sha256: string
  /** Callers see only `stored` files: the bytes of the others are still arriving, or are about to be removed. */
  state: 'uploading' | 'stored' | 'deleted'
  storage: 'database' | 's3'
  /** The id of the multipart upload, while the bytes go to S3 in several parts. */
  upload_id: string | null
  /** JSON of the actor. */
  created_by: string
  created_at: string
}

/** A part of a file that is stored in the database. */
export interface FileChunkRow {
  file_id: string
  n: number
  /** Base64. */
  content: string
}

/** The files of a task, in their order. */
export interface TaskFileRow {
  task_id: string
  n: number
  file_id: string
}

/** The files of a message, in their order. */
export interface MessageFileRow {
  message_id: string
  n: number
  file_id: string
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
  /** In lower case, because handles are compared without case. */
  handle: string
  shown: string
  client_id: string
  /** 0: the client typed it, and nobody has checked that it is the client's. */
  is_verified: Flag
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

/** What clients see of a project. */
export interface BrandRow {
  project_id: string
  name: string | null
  /** As `#rrggbb`. */
  color: string | null
  logo_file_id: string | null
  favicon_file_id: string | null
  welcome: string | null
  language: string
  /** The channel of the conversations that clients begin in the portal. */
  portal_channel_id: string | null
  /** Sends sign-in links and notices. */
  mail_connection_id: string | null
  /** Clients get a mail about answers since then; null: they get none. */
  notify_since: string | null
  updated_at: string
}

/** The unsubscribe link of a mail. */
export interface NoticeTokenRow {
  hash: string
  project_id: string
  client_id: string
  created_at: string
}

/** A client who wants no mails about answers. */
export interface NoticeOptOutRow {
  client_id: string
  project_id: string
  at: string
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
  /**
   * Tells apart the conversations of one client on one channel, such as two mails with two subjects. Empty: the client has
   * one conversation on the channel.
   */
  conversation_key: string
  /** Part of the reply address of mails, so that an answer finds its thread. */
  reply_token: string | null
  /** The member or key that has taken the conversation over from the agent. */
  held_by_kind: string | null
  held_by_id: string | null
  /** The number of the newest message that the team has read. */
  read_count: number
  /** Since when the client waits for an answer that no run will give. */
  unanswered_at: string | null
  unanswered_reason: string | null
  unanswered_task_id: string | null
  /** The number of the newest message that the client has read in the portal. */
  client_read_count: number
  /** The number of the newest message for which it was decided whether the client gets a mail. */
  client_told_count: number
  created_at: string
  updated_at: string
}

export interface MessageRow {
  id: string
  /** The position in the thread: ids of one millisecond have no order. */
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
  /** JSON list of the addresses that an e-mail was sent to; null for a message in the thread itself. */
  recipients: string | null
  /** The member or key that wrote an outbound message; null: an agent. */
  author_kind: string | null
  author_id: string | null
  /** JSON: what the adapter of the channel needs to answer the message, such as the ids of the provider. */
  address: string | null
  /** How the message left the service; null: it did not, and is shown in the portal only. */
  delivery: 'sending' | 'sent' | 'failed' | 'unknown' | null
  delivery_error: string | null
  /** 1: an automatic reply or a bounce, which starts no task and is never answered. */
  is_automatic: Flag
  /** JSON: whether the sender of a mail is proved (SPF, DKIM, DMARC); null: the channel does not say. */
  verdict: string | null
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
  /** For a question of the manifest, its id there; otherwise a hash of the text, so that the same question is one row. */
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
  /** The conversation that the case is about. */
  thread_id: string | null
  /** The member who takes care of the case. */
  assignee_id: string | null
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
  /** The size of the value that the last write replaced; 0 for a new record. */
  replaced_bytes: number
}

/**
 * The index of record values: a row for each field of each record. See `src/records/filter/README.md`.
 */
export interface RecordFieldRow {
  record_id: string
  /** A hash of project and collection (`hashCollection`). */
  collection_hash: string
  wedge: string
  path: string
  /** Type and value as text that sorts by its bytes like the values. */
  sort_key: string
}

/** The column of `record_columns` that holds a path of a collection. */
export interface RecordPathRow {
  /** A hash of project and collection. */
  collection_hash: string
  path: string
  n: number
}

/**
 * The fields of a record side by side, as far as their paths have a column. A filter that many records match reads one
 * row for each record here.
 */
export interface RecordColumnsRow {
  /** A hash of project and collection. */
  collection_hash: string
  record_id: string
  wedge: string
  /** A sort key; null if the record has no such field. */
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

/** One row for each due time that fired: the key makes it fire once across all replicas. */
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
  /** The id of a project, or of an organisation for entries that belong to none of its projects. */
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
  /** Proves that the service itself moved the head. */
  seal: string | null
}

/** A block of 128 entries of a chain that has an action or a subject. */
export interface AuditBlockRow {
  chain: string
  /** `action task.created` or `subject task_…`. */
  term: string
  block: number
}

/** How far the entries of a chain are in `audit_blocks`. */
export interface AuditIndexRow {
  chain: string
  next_block: number
}

export interface AuditCheckpointRow {
  chain: string
  seq: number
  hash: string
  at: string
  kid: string
  signature: string
}

/** How far the tasks or approvals of a project are summed up: every row up to this id is in the sums or in `report_open`. */
export interface ReportMarkRow {
  project_id: string
  source: string
  folded_to: string
}

/** Rows before the mark that were not final when it passed them. */
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
  /** A day, a month or a year. Each day is also summed up in its month and its year, so that long periods are few rows. */
  span: string
  client_id: string
  runs: number
  cost_micros: number
}

export interface ReportApprovalRow {
  project_id: string
  /** A day, a month or a year. */
  span: string
  status: string
  /** About how long a person took to decide; -1 if no person decided. */
  wait_ms: number
  n: number
}

export interface WebhookRow {
  id: string
  project_id: string
  url: string
  /** JSON list of event types. */
  events: string
  enabled: Flag
  /** Until when the secret before the last rotation is also used to sign. */
  previous_until: string | null
  created_at: string
  updated_at: string
}

/** An event to be delivered to one webhook. The payload is built from the subject, so it is not stored. */
export interface WebhookDeliveryRow {
  webhook_id: string
  /** The id of the event, by which a receiver detects duplicates; the same for all webhooks. */
  id: string
  project_id: string
  event: string
  subject: string
  status: string
  attempts: number
  /** When the next attempt is due; during an attempt, when the sender counts as crashed. */
  next_at: string | null
  last_status: number | null
  last_error: string | null
  created_at: string
  delivered_at: string | null
}

/** A program that registered itself as an OAuth client of `/mcp`. */
export interface McpAppRow {
  id: string
  name: string
  /** A JSON list. */
  redirect_uris: string
  created_at: string
  /** When a member last gave it access. */
  last_used_at: string | null
}

/** The access to one project that a member gave to an app, with a role of at most the member's own. */
export interface McpAuthorisationRow {
  id: string
  project_id: string
  member_id: string
  app_id: string
  app_name: string
  role: string
  created_at: string
  /** When the app last got a token. */
  last_used_at: string | null
}

export interface McpCodeRow {
  hash: string
  authorisation_id: string
  redirect_uri: string
  code_challenge: string
  expires_at: string
  used_at: string | null
}

export interface McpTokenRow {
  hash: string
  authorisation_id: string
  kind: 'access' | 'refresh'
  expires_at: string
  /** When a refresh token was exchanged for its successor. */
  used_at: string | null
}

export interface Tables {
  organisations: OrganisationRow
  projects: ProjectRow
  storage_usage: StorageUsageRow
  members: MemberRow
  keys: KeyRow
  sessions: SessionRow
  login_failures: LoginFailureRow
  replicas: ReplicaRow
  commit_marks: CommitMarkRow
  tasks: TaskRow
  idempotency_keys: IdempotencyKeyRow
  rate_ring: RateRingRow
  events: EventRow
  artifacts: ArtifactRow
  artifact_files: ArtifactFileRow
  files: FileRow
  file_chunks: FileChunkRow
  task_files: TaskFileRow
  message_files: MessageFileRow
  transcripts: TranscriptRow
  run_states: RunStateRow
  approvals: ApprovalRow
  approval_votes: ApprovalVoteRow
  approval_comments: ApprovalCommentRow
  notifiers: NotifierRow
  notification_settings: NotificationSettingsRow
  notification_links: NotificationLinkRow
  notification_codes: NotificationCodeRow
  notification_messages: NotificationMessageRow
  decision_links: DecisionLinkRow
  effects: EffectRow
  policy_counters: PolicyCounterRow
  wedge_policies: WedgePolicyRow
  connections: ConnectionRow
  connection_tools: ConnectionToolRow
  vault: VaultRow
  oauth_flows: OauthFlowRow
  token_locks: TokenLockRow
  mcp_apps: McpAppRow
  mcp_authorisations: McpAuthorisationRow
  mcp_codes: McpCodeRow
  mcp_tokens: McpTokenRow
  channels: ChannelRow
  clients: ClientRow
  client_handles: ClientHandleRow
  portal_links: PortalLinkRow
  client_sessions: ClientSessionRow
  brands: BrandRow
  notice_tokens: NoticeTokenRow
  notice_opt_outs: NoticeOptOutRow
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
  audit_blocks: AuditBlockRow
  audit_indexes: AuditIndexRow
  webhooks: WebhookRow
  webhook_deliveries: WebhookDeliveryRow
  report_marks: ReportMarkRow
  report_open: ReportOpenRow
  report_runs: ReportRunRow
  report_clients: ReportClientRow
  report_approvals: ReportApprovalRow
}
