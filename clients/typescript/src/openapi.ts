// Generated from /openapi.json by `npm run api-types`. Do not edit.

export type Action = {
  approval_id: string
  task_id: string
  action: string
  connection_id: string | null
  /** Null: nothing was sent, such as a reply that is shown in the portal. */
  connection: string | null
  payload_sha256: string
  outcome: 'ok' | 'failed' | 'unknown' | 'sent'
  status: number | null
  error: string | null
  created_at: string
  finished_at: string | null
}

export type ActionAmount = {
  /** In major units: 50 is $50.00. Null: `text` says why. */
  value: number | null
  /** ISO 4217, in upper case. */
  currency: string | null
  /** Such as "$50.00", or what is wrong with the amount. */
  text: string
  /** The field of the payload that states the amount. */
  path: string
  unit: 'major' | 'minor'
  currency_path: string | null
}

export type ActionList = {
  data: Action[]
  next_cursor: string | null
}

export type ActivateBlueprintError409 = {
  error: string
  missing?: ReadinessItem[]
}

export type ActivateBlueprintResponse = {
  ok: true
  active: true
}

export type Analytics = {
  days: number
  from: string
  to: string
  runs: number
  succeeded: number
  failed: number
  rejected: number
  expired: number
  cancelled: number
  /** Succeeded tasks among ended ones, from 0 to 1; null: none has ended. */
  success_rate: number | null
  cost_usd: number
  /** Median time from request to decision, in seconds. */
  median_approval_wait_s: number | null
  by_wedge: {
    wedge: string
    runs: number
    /** Succeeded tasks among ended ones, from 0 to 1; null: none has ended. */
    success_rate: number | null
    cost_usd: number
  }[]
  by_day: {
    day: string
    runs: number
    succeeded: number
    cost_usd: number
  }[]
  /** The 100 clients with the highest cost. */
  by_client: {
    client_id: string
    runs: number
    cost_usd: number
  }[]
  approvals: {
    requested: number
    pending: number
    auto_approved: number
    approved: number
    rejected: number
    expired: number
  }
}

export type AnswerIntakeQuestionRequest = {
  answer: string
}

export type Approval = {
  approval_id: string
  task_id: string
  project_id: string
  wedge: string
  task_type: string
  action: string
  risk: string
  /** Any JSON value. */
  preview: unknown
  /** What an action of a named tool does, such as "stripe: create a refund of $50.00". */
  text: string | null
  /** The amount, if the tool declares where it is. Of an edited payload: the edited amount, also while the edit is held. */
  amount: ActionAmount | null
  payload_sha256: string
  allowed_decisions: ('approve' | 'edit' | 'reject' | 'revise')[]
  status: 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired'
  /** A question is answered by approve with `edited: {answer}`. */
  path: 'action' | 'tool' | 'question'
  /** Who is asked a question; null for other approvals. */
  to: 'team' | 'client' | null
  connection: string | null
  connection_id: string | null
  /** Why a rule approved the request, or why it needs a decision. */
  policy_reason: string | null
  policy_rule: { [key: string]: unknown } | null
  edited: { [key: string]: unknown } | null
  reason: string | null
  /** A person sent the rejected request back with `reason` as a note, and the task continues. */
  revise: boolean
  note: string | null
  created_at: string
  expires_at: string | null
  decided_at: string | null
  decided_by: NamedActor | null
  context: ApprovalContext
  /** How many people must approve the same payload. */
  needed: number
  /** Who has approved the current payload, if several people must. An edit removes them. */
  votes: ApprovalVote[]
  /** Roles, members and `client`, the client of the task, who may decide; null: every operator, admin and owner. */
  approvers: string[] | null
  /** Who started the task (`context.requested_by`) may not decide. */
  exclude_requester: boolean
  /** When more people were asked, because nobody decided. */
  escalated_at: string | null
  /** The member who is asked to decide. */
  assignee: {
    id: string
    name: string
  } | null
  comment_count: number
  /** How many seconds the buttons of the service hold an approval, so that it can be withdrawn; 0: none. */
  hold_s: number
  /** An approval that its person can still withdraw. No other decision is possible meanwhile. */
  held: HeldApproval | null
  /** Of a pending request: the last approval that was held and could not be made. */
  dropped: DroppedApproval | null
}

export type ApprovalComment = {
  id: string
  approval_id: string
  body: string
  author: NamedActor
  created_at: string
}

export type ApprovalCommentList = {
  data: ApprovalComment[]
  next_cursor: string | null
}

export type ApprovalContext = {
  /** The customer that the task works for. */
  client: {
    id: string
    name: string | null
  } | null
  thread_id: string | null
  /** The first 4000 characters of the customer's message that started the task, else of the newest one before the approval. */
  message: {
    id: string
    body: string
    at: string
    from: MessageSender | null
    /** Nothing proves that the customer wrote this mail. */
    unverified: boolean
  } | null
  case_id: string | null
  /** Who started the task; null for old tasks. */
  requested_by: NamedActor | null
}

export type ApprovalDetail = {
  approval_id: string
  task_id: string
  project_id: string
  wedge: string
  task_type: string
  action: string
  risk: string
  /** Any JSON value. */
  preview: unknown
  /** What an action of a named tool does, such as "stripe: create a refund of $50.00". */
  text: string | null
  /** The amount, if the tool declares where it is. Of an edited payload: the edited amount, also while the edit is held. */
  amount: ActionAmount | null
  payload_sha256: string
  allowed_decisions: ('approve' | 'edit' | 'reject' | 'revise')[]
  status: 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired'
  /** A question is answered by approve with `edited: {answer}`. */
  path: 'action' | 'tool' | 'question'
  /** Who is asked a question; null for other approvals. */
  to: 'team' | 'client' | null
  connection: string | null
  connection_id: string | null
  /** Why a rule approved the request, or why it needs a decision. */
  policy_reason: string | null
  policy_rule: { [key: string]: unknown } | null
  edited: { [key: string]: unknown } | null
  reason: string | null
  /** A person sent the rejected request back with `reason` as a note, and the task continues. */
  revise: boolean
  note: string | null
  created_at: string
  expires_at: string | null
  decided_at: string | null
  decided_by: NamedActor | null
  context: ApprovalContext
  /** How many people must approve the same payload. */
  needed: number
  /** Who has approved the current payload, if several people must. An edit removes them. */
  votes: ApprovalVote[]
  /** Roles, members and `client`, the client of the task, who may decide; null: every operator, admin and owner. */
  approvers: string[] | null
  /** Who started the task (`context.requested_by`) may not decide. */
  exclude_requester: boolean
  /** When more people were asked, because nobody decided. */
  escalated_at: string | null
  /** The member who is asked to decide. */
  assignee: {
    id: string
    name: string
  } | null
  comment_count: number
  /** How many seconds the buttons of the service hold an approval, so that it can be withdrawn; 0: none. */
  hold_s: number
  /** An approval that its person can still withdraw. No other decision is possible meanwhile. */
  held: HeldApproval | null
  /** Of a pending request: the last approval that was held and could not be made. */
  dropped: DroppedApproval | null
  /** The end of the conversation: at most 6 messages, oldest first. */
  thread: {
    id: string
    direction: 'inbound' | 'outbound'
    body: string
    at: string
    /** Nothing proves that the customer wrote this mail. */
    unverified: boolean
    /** The member or key that wrote an answer. */
    author: NamedActor | null
  }[]
  /** The newest 5 earlier decisions on the same action of the wedge, newest first. */
  history: PastDecision[]
  /** The last 10 things the agent did before it asked, oldest first. */
  steps: {
    at: string
    text: string
  }[]
  /** Members who may decide and have not approved yet. Empty once it is decided. */
  waits_for: {
    id: string
    name: string
  }[]
  /** Why the request needs a decision, and whose, in words. */
  rule: string
  /** The files of the payload and of the task. */
  files: File[]
  /** The JSON Schema of the payload, for a form; null: not known. */
  schema: { [key: string]: unknown } | null
}

export type ApprovalList = {
  data: Approval[]
  next_cursor: string | null
}

export type ApprovalRequestedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'approval.requested'
  ts: string
  data: {
    approval_id: string
    action: string
    risk: string
    /** Who is asked a question. Only questions have it. */
    to?: 'team' | 'client'
    /** The client of the task may decide about this request, which is no question. */
    asks_client?: true
    /** The connection that the action would use, if any. */
    connection?: string
    /** Any JSON value. */
    preview: unknown
    /** What an action of a named tool does, in one line. */
    text?: string | null
    /** As in the approval. */
    amount?: { [key: string]: unknown } | null
    expires_at: string
  }
}

export type ApprovalResolvedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'approval.resolved'
  ts: string
  data: {
    approval_id: string
    action: string
    decision: 'approved' | 'rejected' | 'auto_approved'
    policy_reason?: string
    /** Any JSON object. */
    decided_by?: { [key: string]: unknown }
    edited?: boolean
    revise?: boolean
    /** Who is asked a question. Only questions have it. */
    to?: 'team' | 'client'
    /** The client of the task may decide about this request, which is no question. */
    asks_client?: true
  }
}

export type ApprovalVote = {
  by: NamedActor
  at: string
}

export type ApproveApprovalRequest = {
  edited?: { [key: string]: unknown } | null
  note?: string
  /** The hash of the payload that the caller has read; 409 if it is another one now. */
  payload_sha256?: string
  /** For this many seconds the caller can withdraw the approval, and it has no effect before. */
  hold_s?: number
}

export type ApproveResult = Decision | Vote | HeldResult

export type Artifact = {
  id: string
  name: string
  content_type: string
  size: number
}

export type ArtifactCreatedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'artifact.created'
  ts: string
  data: {
    artifact_id: string
    name: string
    content_type: string
    /** Bytes. */
    size: number
    url: string
  }
}

export type AuditEntry = {
  seq: number
  ts: string
  actor: {
    kind: string
    id: string
  }
  action: string
  subject: string
  /** Any JSON object. */
  data: { [key: string]: unknown }
  prev_hash: string
  hash: string
}

export type AuditEntryList = {
  data: AuditEntry[]
  next_cursor: string | null
}

export type AuditVerification = {
  ok: boolean
  entries: number
  head: string | null
  first_bad_seq: number | null
  problem: string | null
  anchored_to: number | null
  signed_by: string | null
  sealed_from: number | null
  checkpoints: {
    signed: number
    not_verifiable: number
  }
}

export type Authorisation = {
  connection_id: string
  redirect_url: string | null
  expires_at: string | null
  status: string
}

export type Blueprint = {
  blueprint: string
  title: string
  summary: string
  sells_as: string
  wedge: string
  /** Provisioned in at least one project in scope. */
  installed: boolean
  active: boolean
}

export type BlueprintList = {
  data: Blueprint[]
  next_cursor: string | null
  problems: {
    blueprint: string
    problem: string
  }[]
}

export type BlueprintParts = {
  connections: string[]
  schedules: string[]
  knowledge: string[]
}

export type Brand = {
  project_id: string
  name: string | null
  color: string | null
  logo_file_id: string | null
  favicon_file_id: string | null
  /** The path of the image on this server; null: there is none. */
  logo_url: string | null
  /** The path of the image on this server; null: there is none. */
  favicon_url: string | null
  welcome: string | null
  language: 'en' | 'de' | 'fr' | 'es'
  /** The channel of the conversations that clients begin in the portal; null: they cannot begin any. */
  portal_channel_id: string | null
  /** The email connection that sends sign-in links and notices. */
  mail_connection_id: string | null
  /** Whether clients get a mail about answers that they have not read. */
  notify: boolean
  /** The address of the portal for clients of this project. */
  portal_url: string
}

export type Case = {
  id: string
  project_id: string
  wedge: string
  title: string | null
  stage: string
  status: 'open' | 'closed'
  client_id: string | null
  /** The conversation that the case is about. */
  thread_id: string | null
  /** The member who takes care of the case. */
  assignee: {
    id: string
    name: string
  } | null
  /** Any JSON object. */
  data: { [key: string]: unknown }
  /** The newest 200, oldest first. */
  history: CaseHistoryEntry[]
  /** The newest 200, newest first. */
  task_ids: string[]
  created_at: string
  updated_at: string
  closed_at: string | null
}

export type CaseHistoryEntry = {
  from: string | null
  to: string
  at: string
  by: {
    kind: string
    id: string
    /** The name of the member or API key; null for others. */
    name: string | null
  }
  note: string | null
}

export type CaseList = {
  data: Case[]
  next_cursor: string | null
}

export type ChangePasswordRequest = {
  password: string
  new_password: string
}

export type Channel = {
  id: string
  project_id: string
  connection_id: string
  address: string
  wedge: string
  task_type: string
  /** The service that carries the messages; null: `/inbound` only. */
  adapter: string | null
  /** Any JSON object. */
  config: { [key: string]: unknown }
  settle_s: number
  has_secret: boolean
  /** The address to register with the provider; null: it has none. */
  hook_url: string | null
  last_received_at: string | null
  /** Why the last message could not be received. */
  last_error: string | null
  last_error_at: string | null
  created_at: string
}

export type ChannelAdapter = {
  adapter: string
  /** Any JSON object. */
  config_schema: { [key: string]: unknown }
  /** What the secret of a channel is; null: it has none. */
  secret: string | null
  /** The provider calls the `hook_url` of a channel. */
  has_hook: boolean
  /** What the connection of a channel must be; null: any connection will do. */
  connection: {
    kind: string
    provider: string | null
  } | null
  /** Answers are sent through the connection of the channel. */
  can_reply: boolean
}

export type ChannelList = {
  data: Channel[]
  next_cursor: string | null
}

export type Client = {
  id: string
  project_id: string
  display_name: string | null
  handles: string[]
  /** Any JSON object. */
  metadata: { [key: string]: unknown }
  /** The open conversations with the client. */
  open_threads: number
  /** The last change of a conversation with the client. */
  last_activity_at: string | null
  created_at: string
  updated_at: string
}

export type ClientList = {
  data: Client[]
  next_cursor: string | null
}

export type ConfirmNotificationLinkRequest = {
  token: string
}

export type ConnectAccountRequest = {
  callback_url?: string
}

export type ConnectToolkitRequest = {
  client_id?: string | null
  read_tools?: string[]
  callback_url?: string
}

export type Connection = {
  id: string
  project_id: string
  kind: 'email' | 'webhook' | 'custom' | 'broker' | 'mcp'
  name: string
  owner: {
    kind: 'founder' | 'client'
    id: string
  }
  client_id: string | null
  /** Any JSON object. */
  config: { [key: string]: unknown }
  secret_ref: string | null
  has_secret: boolean
  status: 'connected' | 'needs_secret' | 'needs_authorisation'
  last_ok_at: string | null
  last_error: string | null
  last_error_at: string | null
  created_at: string
  updated_at: string
}

export type ConnectionHealth = {
  status: 'ok' | 'failing' | 'not_connected'
  checked_at: string | null
  message: string | null
}

export type ConnectionList = {
  data: Connection[]
  next_cursor: string | null
}

export type ConnectionTest = {
  ok: boolean
  checked: string
  status: number | null
  error: string | null
}

export type ConnectionTool = {
  name: string
  description: string
  /** Any JSON object. */
  input_schema: { [key: string]: unknown }
  /** Any JSON object. */
  annotations: { [key: string]: unknown }
  class: 'read' | 'ask' | 'off'
  state: 'confirmed' | 'new' | 'changed'
  proposed_class: 'read' | 'ask' | null
  hash: string | null
}

export type ConnectionWithWarnings = {
  id: string
  project_id: string
  kind: 'email' | 'webhook' | 'custom' | 'broker' | 'mcp'
  name: string
  owner: {
    kind: 'founder' | 'client'
    id: string
  }
  client_id: string | null
  /** Any JSON object. */
  config: { [key: string]: unknown }
  secret_ref: string | null
  has_secret: boolean
  status: 'connected' | 'needs_secret' | 'needs_authorisation'
  last_ok_at: string | null
  last_error: string | null
  last_error_at: string | null
  created_at: string
  updated_at: string
  warnings: string[]
}

export type CostChargedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'cost.charged'
  ts: string
  data: {
    provider?: string
    model: string
    /** The model that wrote the reply, as the provider says. */
    response_model?: string
    /** Why the model stopped, in the words of the provider. */
    finish_reason?: string
    streamed?: boolean
    /** Includes the tokens of the cache. */
    input_tokens: number
    cache_read_tokens?: number
    cache_write_tokens?: number
    output_tokens: number
    /** From the request of the agent to the end of the reply. */
    duration_ms?: number
    cost_usd: number
    total_usd: number
    /** The model has no known price. */
    unpriced?: boolean
  }
}

export type CreateApprovalCommentRequest = {
  body: string
}

export type CreateCaseRequest = {
  wedge: string
  title?: string | null
  client_id?: string | null
  thread_id?: string | null
  assignee_id?: string | null
  stage?: string
  /** Any JSON object. */
  data?: { [key: string]: unknown }
}

export type CreateCaseTaskRequest = {
  task_type: string
  /** Any JSON value. */
  input?: unknown
  /** Any JSON value. */
  actor?: unknown
  constraints?: {
    max_runtime_s?: number
    max_cost_usd?: number
    approval_required?: boolean
  }
  tools?: string[]
  output_schema?: { [key: string]: unknown } | null
  /** Ids of files that were uploaded before. */
  files?: string[]
}

export type CreateChannelRequest = {
  connection_id: string
  address: string
  wedge: string
  task_type: string
  /** The service that carries the messages; null: `/inbound` only. */
  adapter?: string | null
  /** In the form of the adapter. */
  config?: { [key: string]: unknown }
  /** How long the task of a message waits for more messages, which then become part of it. */
  settle_s?: number
}

export type CreateClientRequest = {
  display_name?: string | null
  handles?: string[]
  /** Any JSON object. */
  metadata?: { [key: string]: unknown }
}

export type CreateConnectionRequest = {
  kind?: 'email' | 'webhook' | 'custom' | 'broker' | 'mcp'
  preset?: string
  params?: { [key: string]: string | number }
  name: string
  owner?: {
    kind: 'founder' | 'client'
    id?: string
  }
  client_id?: string | null
  /** The address and other settings of its kind. A custom connection may have `base_url` and `operations: [{name, description?, method, path, query?, headers?, body?, input_schema?, read?, idempotency_header?, success?, amount?}]`. */
  config?: { [key: string]: unknown }
  secret_ref?: string | null
}

export type CreateKeyRequest = {
  name: string
  role?: 'viewer' | 'operator' | 'admin'
}

export type CreateKnowledgeRequest = {
  name: string
  content: string
  kind?: 'note' | 'fact' | 'correction' | 'feedback' | 'answer' | 'seed'
  source?: string | null
  /** Any JSON object. */
  metadata?: { [key: string]: unknown }
}

export type CreateMcpAuthorisationRequest = {
  client_id: string
  redirect_uri: string
  response_type?: string
  code_challenge?: string
  code_challenge_method?: string
  resource?: string
  state?: string
  project_id: string
  role: 'viewer' | 'operator' | 'admin' | 'owner'
}

export type CreateMcpAuthorisationResponse = {
  redirect_to: string
}

export type CreateNotificationLinkRequest = {
  kind: 'slack' | 'telegram' | 'mail'
}

export type CreatePortalLinkResponse = {
  token: string
  expires_at: string
  url: string
}

export type CreateProjectRequest = {
  name: string
  tier?: string
  wedges?: string[] | null
}

export type CreateScheduleRequest = {
  name: string
  wedge: string
  task_type: string
  cadence: {
    kind: 'every'
    seconds: number
  } | {
    kind: 'daily'
    hour: number
    minute: number
  } | {
    kind: 'monthly'
    day: number
    hour: number
    minute: number
  } | {
    kind: 'cron'
    /** Five cron fields: minute, hour, day, month, weekday. */
    expr: string
    /** An IANA time zone. */
    tz: string
  }
  /** Any JSON value. */
  input?: unknown
  enabled?: boolean
  client_id?: string | null
  case_id?: string | null
}

export type CreateTaskFeedbackRequest = {
  rating?: number | string
  /** Any JSON value. */
  correction?: unknown
  note?: string
}

export type CreateTaskRequest = {
  wedge: string
  task_type: string
  /** Any JSON value. */
  input?: unknown
  /** Any JSON value. */
  actor?: unknown
  constraints?: {
    max_runtime_s?: number
    max_cost_usd?: number
    approval_required?: boolean
  }
  tools?: string[]
  output_schema?: { [key: string]: unknown } | null
  /** Ids of files that were uploaded before. */
  files?: string[]
  /** The client for whom the task is. The task is erased with it. */
  client_id?: string | null
}

export type CreateThreadMessageRequest = {
  body: string
  /** Ids of files that were uploaded before. */
  files?: string[]
}

export type CreateWebhookRequest = {
  url: string
  events: ('approval.requested' | 'approval.expiring' | 'task.finished' | 'connection.failing' | 'connection.tools_changed' | 'schedule.failed')[]
  enabled?: boolean
}

export type Decision = {
  ok: true
  decision: 'approved' | 'rejected'
}

export type DroppedApproval = {
  by: NamedActor
  at: string
  reason: string
}

export type Erasure = {
  client_id: string
  erased: {
    tasks: number
    files: number
    knowledge: number
    threads: number
    messages: number
    connections: number
  }
}

export type Event = TaskCreatedEvent | StepStartedEvent | ToolCalledEvent | ToolResultEvent | ProgressEvent | TokenDeltaEvent | ApprovalRequestedEvent | ApprovalResolvedEvent | OutputValidatedEvent | ArtifactCreatedEvent | CostChargedEvent | FeedbackRecordedEvent | TaskFinishedEvent

export type FeedbackRecordedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'feedback.recorded'
  ts: string
  data: {
    source: 'approval' | 'task'
    knowledge_id: string | null
    /** Any JSON value. */
    rating?: unknown
    note?: string
  }
}

export type File = {
  id: string
  name: string
  content_type: string
  size: number
  sha256: string
  created_at: string
}

export type FileList = {
  data: File[]
  next_cursor: string | null
}

export type GetAccountStatusResponse = {
  status: string
  active: boolean
}

export type HeldApproval = {
  decision: 'approved'
  by: NamedActor
  /** When the approval is made. `by` can withdraw it before. */
  until: string
  /** All fields that differ from `preview` when it is sent; null: it edits nothing. */
  edited: { [key: string]: unknown } | null
}

export type HeldResult = {
  ok: true
  decision: 'held'
  held: HeldApproval
}

export type Intake = {
  wedge: string
  /** Percent of the shown questions that are answered. */
  coverage: number
  /** Open seed questions and the newest 1000 others. */
  questions: IntakeQuestion[]
}

export type IntakeQuestion = {
  id: string
  project_id: string
  question: string
  why: string | null
  kind: 'seed' | 'gap'
  status: 'open' | 'answered' | 'dismissed'
  answer: string | null
  knowledge_id: string | null
  task_id: string | null
  /** How many runs asked for it. */
  asked: number
  created_at: string | null
}

export type Invite = {
  member: Member
  invite: string
  expires_at: string
}

export type InviteMemberRequest = {
  email: string
  role: 'viewer' | 'operator' | 'admin' | 'owner'
}

export type Key = {
  id: string
  project_id: string
  name: string
  role: 'viewer' | 'operator' | 'admin' | 'owner'
  hint: string
  created_at: string
  last_used_at: string | null
}

export type KeyList = {
  data: Key[]
  next_cursor: string | null
}

export type KeyWithSecret = {
  id: string
  project_id: string
  name: string
  role: 'viewer' | 'operator' | 'admin' | 'owner'
  hint: string
  created_at: string
  last_used_at: string | null
  key: string
}

export type Knowledge = {
  id: string
  project_id: string
  wedge: string
  name: string
  content: string
  kind: 'note' | 'fact' | 'correction' | 'feedback' | 'answer' | 'seed'
  source: string | null
  /** Any JSON object. */
  metadata: { [key: string]: unknown }
  task_id: string | null
  version: number
  created_at: string
  updated_at: string
}

export type KnowledgeList = {
  data: Knowledge[]
  next_cursor: string | null
}

export type KnowledgeRevision = {
  version: number
  name: string
  content: string
  kind: 'note' | 'fact' | 'correction' | 'feedback' | 'answer' | 'seed'
  by: {
    kind: string
    id: string
  }
  at: string
}

export type KnowledgeRevisionList = {
  data: KnowledgeRevision[]
  next_cursor: string | null
}

export type ListCaseFilesResponse = {
  data: File[]
}

export type ListChannelAdaptersResponse = {
  data: ChannelAdapter[]
}

export type ListConnectionToolsResponse = {
  data: ConnectionTool[]
}

export type McpAuthorisation = {
  id: string
  project_id: string
  app: {
    id: string
    name: string
  }
  member: {
    id: string
    name: string
  }
  role: 'viewer' | 'operator' | 'admin' | 'owner'
  created_at: string
  /** When the app last got a token. */
  last_used_at: string | null
}

export type McpAuthorisationList = {
  data: McpAuthorisation[]
  next_cursor: string | null
}

export type McpConsent = {
  app: {
    name: string
    redirect_host: string
  }
  /** What is wrong with the request of the app; null: nothing. */
  error: string | null
  /** Returns to the app without access: the member refused, or the error. */
  return_url: string
}

export type Member = {
  id: string
  email: string
  name: string | null
  role: 'viewer' | 'operator' | 'admin' | 'owner'
  status: 'invited' | 'active'
  created_at: string
}

export type MemberList = {
  data: Member[]
  next_cursor: string | null
}

export type Message = {
  id: string
  direction: 'inbound' | 'outbound'
  /** The sender; null if the agent or a member wrote it. */
  from: MessageSender | null
  /** The member or key that wrote an answer; null: an agent. */
  author: NamedActor | null
  /** The recipients of a mail; null for a message in the thread. */
  to: string[] | null
  body: string
  subject: string | null
  files: File[]
  task_id: string | null
  external_id: string | null
  /** How the message left the service; null: the client reads it in the portal only. */
  delivery: 'sending' | 'sent' | 'failed' | 'unknown' | null
  delivery_error: string | null
  /** An automatic reply, a bounce, or a notice that the service shows in the portal. */
  is_automatic: boolean
  /** What the mail server found out about the sender, or about `sent_by`: SPF, DKIM, DMARC. */
  verdict: { [key: string]: unknown } | null
  /** Nothing proves that the client wrote this mail, so it answers no question of an agent. */
  unverified: boolean
  /** The address in From, if the mail names its sender in Reply-To; null: the sender sent it. */
  sent_by: string | null
  created_at: string
}

export type MessageSender = {
  handle: string | null
  name: string | null
}

export type Meta = {
  version: string
  wedges: {
    wedge: string
    title: string
    task_types: string[]
  }[]
  problems: {
    wedge: string
    problem: string
  }[]
  store: {
    kind: string
  }
  /** What this replica does: SVC_ROLE. */
  role: 'all' | 'api' | 'runner'
  /** The sandbox of this replica; its kind is `none` if the replica executes no tasks. */
  sandbox: {
    kind: string
    /** Any JSON object. */
    isolation: { [key: string]: unknown }
    /** How the memory and the processes of a cell are limited together: by its `cgroup`, or (`process`) per process and by the service, which watches their sum. `reason` says why there is no cgroup. */
    limiting: {
      kind: 'cgroup' | 'process' | 'none'
      reason: string | null
    }
  }
  model: {
    provider: string
    name: string
  }
  vault: {
    /** Without SVC_SECRET_KEY: stored secrets are lost at the next start. */
    ephemeral: boolean
  }
  broker: {
    configured: boolean
  }
  replica: string
}

export type MyNotifications = {
  links: NotificationLink[]
  /** Null: those of the project. */
  settings: NotificationSettings | null
  project_settings: NotificationSettings
  /** The services that the project has set up. */
  available: ('slack' | 'telegram' | 'mail')[]
}

export type NamedActor = {
  kind: string
  id: string
  name: string | null
}

export type NamedText = {
  name: string
  content: string
}

export type NeedsYou = {
  data: NeedsYouItem[]
  /** How many items each kind has in all, which may be more than `data` has. */
  counts: { [key: string]: number }
  /** At least one kind has more items than are shown. */
  has_more: boolean
}

export type NeedsYouItem = {
  kind: 'lost_secrets' | 'approval' | 'question' | 'conversation' | 'expired_task' | 'connection' | 'channel' | 'schedule' | 'intake'
  /** The id of the approval, thread, task, connection, channel, schedule or question; the project of `lost_secrets`. */
  id: string
  project_id: string
  title: string | null
  /** Why it needs a person: an error, a reason or the question. */
  detail: string | null
  since: string
  wedge: string | null
  /** Of an approval or a question. */
  approval: Approval | null
  /** The conversation of an approval or a question; null: it has none. */
  thread: {
    id: string
    subject: string | null
    client_name: string | null
    adapter: string | null
  } | null
  /** Of an expired task. */
  task: Task | null
}

export type NotificationLink = {
  kind: 'slack' | 'telegram' | 'mail'
  /** The user id at Slack, the chat id at Telegram, or the mail address. */
  address: string
  linked_at: string
}

export type NotificationSettings = {
  low: {
    via: ('slack' | 'telegram' | 'mail')[]
    when: 'now' | 'digest' | 'never'
  }
  medium: {
    via: ('slack' | 'telegram' | 'mail')[]
    when: 'now' | 'digest' | 'never'
  }
  high: {
    via: ('slack' | 'telegram' | 'mail')[]
    when: 'now' | 'digest' | 'never'
  }
  /** Messages wait until they end. */
  quiet_hours: {
    from: string
    to: string
  } | null
  /** Requests of high risk are sent during quiet hours, too. */
  wake_for_high: boolean
  /** When the digest is sent. */
  digest_at: string
  /** An IANA time zone. */
  time_zone: string
}

export type Notifier = {
  kind: 'slack' | 'telegram' | 'mail'
  /** The name of the connection; null: it was deleted. */
  connection: string | null
  connection_id: string
  has_secret: boolean
  /** What the secret is, in words; null: the service has none. */
  secret: string | null
  /** The address to register with the service, for clicks on buttons; null: it has none. */
  hook_url: string | null
  created_at: string
}

export type NotifierList = {
  data: Notifier[]
}

export type OauthStart = {
  authorize_url: string
}

export type OutputValidatedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'output.validated'
  ts: string
  data: {
    ok: boolean
    errors: {
      path: string
      message: string
    }[]
  }
}

export type PastDecision = {
  approval_id: string
  text: string | null
  status: 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired'
  decided_by: NamedActor | null
  decided_at: string | null
  edited: boolean
  reason: string | null
}

export type Policy = {
  /** The newest version; null: none was ever saved. */
  version: number | null
  /** `wedge`: the rules of the wedge's folder apply. */
  source: 'wedge' | 'saved'
  /** The rules that apply in this project now. */
  auto_approve: PolicyRule[]
  created_at: string | null
  created_by: NamedActor | null
  /** The newest 20 versions, newest first. */
  versions: {
    version: number
    /** `wedge`: the rules of the wedge's folder apply. */
    source: 'wedge' | 'saved'
    /** Null for the rules of the wedge's folder. */
    rule_count: number | null
    created_at: string
    created_by: NamedActor | null
  }[]
}

export type PolicyRule = {
  action: string
  max_amount_usd?: number
  max_per_task?: number
  max_per_day?: number
}

export type PolicySimulation = {
  checked: number
  would_pass: number
  would_gate: number
  results: {
    approval_id: string
    action: string
    text: string | null
    status: 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired'
    would: 'pass' | 'gate'
    reason: string
    created_at: string
  }[]
}

export type Preset = {
  preset: string
  title: string
  description: string
  kind: 'custom' | 'email'
  operations: {
    name: string
    description: string
    class: 'read' | 'ask' | 'off'
    /** Any JSON object. */
    input_schema: { [key: string]: unknown }
  }[]
  auth: {
    type: string
  }
  secret: {
    label: string
    where: string
  }
  params: {
    name: string
    title: string
    description: string
    type: 'string' | 'number'
    pattern: string | null
    example: string | number
    default: string | number | null
  }[]
  docs: string
}

export type PresetList = {
  data: Preset[]
}

export type ProgressEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'progress'
  ts: string
  data: {
    text: string
    /** The run left its process, continues in another one, or continues with another model; or a step needs no approval, because the reply after it needs one. */
    state?: 'parked' | 'resumed' | 'model_switched' | 'approval_left_out'
    /** With `model_switched`: the model that the run now uses. */
    model?: string
    /** Only in the stream of a client: the question to the client that was asked or decided. */
    question_id?: string
  }
}

export type Project = {
  id: string
  name: string
  slug: string
  tier: string
  /** The enabled wedges; null means all, including future ones. */
  wedges: string[] | null
  created_at: string
}

export type ProjectDetail = {
  id: string
  name: string
  slug: string
  tier: string
  /** The enabled wedges; null means all, including future ones. */
  wedges: string[] | null
  created_at: string
  /** Records, files and events. Those of a running task are counted when it ends, or after every 10,000 events. */
  stored_bytes: number
  /** The limit of `SVC_MAX_PROJECT_MB`; null: none. */
  max_stored_bytes: number | null
}

export type ProjectList = {
  data: Project[]
  next_cursor: string | null
}

export type ProvisionBlueprintResponse = {
  blueprint: string
  created: BlueprintParts
  reused: BlueprintParts
  readiness: Readiness
}

export type Readiness = {
  ready: boolean
  items: ReadinessItem[]
  /** Problems that no request can fix and that affect its tasks. */
  warnings: string[]
}

export type ReadinessItem = {
  item: string
  kind: 'wedge' | 'provision' | 'connection' | 'config' | 'secret' | 'authorisation' | 'schedule' | 'model'
  ok: boolean
  detail: string
  /** The request that fixes the item, or null if no request can. Values in <angle brackets> are yours to fill in. */
  fix: {
    method: 'GET' | 'POST' | 'PUT'
    path: string
    body: { [key: string]: unknown } | null
  } | null
}

export type ReceiveMessageRequest = {
  from: {
    handle: string
    name?: string | null
  }
  body: string
  subject?: string | null
  external_id?: string | null
  /** Ids of files that were uploaded before. */
  files?: string[]
}

export type ReceiveMessageResponse = {
  /** Null if no task starts, because a person has the conversation. */
  task_id: string | null
  thread_id: string
  client_id: string
}

export type Record = {
  id: string
  project_id: string
  wedge: string
  collection: string
  key: string
  /** Any JSON value. */
  value: unknown
  version: number
  created_at: string
  updated_at: string
}

export type RecordList = {
  data: Record[]
  next_cursor: string | null
}

export type RefreshConnectionToolsResponse = {
  data: ConnectionTool[]
  /** How many tools are ignored: their name, size or number is not acceptable. */
  skipped: number
}

export type RejectApprovalRequest = {
  reason?: string
}

export type ReviseApprovalRequest = {
  note: string
}

export type RevokePortalAccessResponse = {
  ok: true
}

export type RuleSuggestion = {
  rule: PolicyRule
  /** The rule in words. */
  text: string
  /** All rules with the suggested one, to save with `PUT /v1/wedges/:wedge/policy`. */
  auto_approve: PolicyRule[]
  /** What people approved unchanged and the rule would have approved. */
  would_pass: {
    count: number
    sum: {
      amount: number
      currency: 'USD'
    } | null
    first_at: string
    last_at: string
    /** The ids of up to 5 of these approvals. */
    sample: string[]
    /** Expired requests that the rule would have approved as well. */
    undecided: number
  }
  /** What people approved unchanged with an amount above the limit, and the lowest of these amounts. The limit is usual: at most twice the median. */
  above_limit: {
    count: number
    lowest: number | null
    /** The ids of up to 5 of these approvals. */
    sample: string[]
  }
  /** Requests that a person rejected, sent back or edited and that the rule covers. */
  would_pass_wrongly: 0
  /** The requests of this action that a person rejected, sent back or edited. */
  not_covered: {
    count: number
    /** The ids of up to 5 of these approvals. */
    sample: string[]
  }
}

export type SaveRecordRequest = {
  wedge: string
  collection: string
  key: string
  /** Any JSON value. */
  value: unknown
  /** The version to replace, 0 if the record must be new. 409 if it differs. */
  version?: number
}

export type Schedule = {
  id: string
  project_id: string
  name: string
  wedge: string
  task_type: string
  cadence: {
    kind: 'every'
    seconds: number
  } | {
    kind: 'daily'
    hour: number
    minute: number
  } | {
    kind: 'monthly'
    day: number
    hour: number
    minute: number
  } | {
    kind: 'cron'
    /** Five cron fields: minute, hour, day, month, weekday. */
    expr: string
    /** An IANA time zone. */
    tz: string
  }
  /** Any JSON value. */
  input: unknown
  enabled: boolean
  client_id: string | null
  case_id: string | null
  next_run_at: string | null
  last_run_at: string | null
  last_task_id: string | null
  /** Why the last due time started no task. */
  last_error: string | null
  created_at: string
  updated_at: string
}

export type ScheduleList = {
  data: Schedule[]
  next_cursor: string | null
}

export type SetChannelSecretRequest = {
  value: string
}

export type SetConnectionSecretRequest = {
  value: string
}

export type SetNotifierRequest = {
  /** The name of a connection. */
  connection: string
}

export type SetNotifierSecretRequest = {
  value: string
}

export type SimulatePolicyRequest = {
  auto_approve: {
    action: string
    max_amount_usd?: number
    max_per_task?: number
    max_per_day?: number
  }[]
  limit?: number
}

export type SkillFolder = {
  name: string
  /** What an agent knows of the skill before it reads its files. */
  description: string
  /** The instructions: `SKILL.md` without its front matter. */
  content: string
  files: {
    path: string
    size: number
  }[]
}

export type Span = {
  span_id: string
  parent_id: string | null
  name: string
  kind: 'task' | 'step' | 'tool' | 'model' | 'approval'
  status: 'running' | 'ok' | 'failed'
  started_at: string
  ended_at: string | null
  duration_ms: number | null
  /** Any JSON value. */
  attributes: unknown
  children: Span[]
}

export type StartConnectionOauthRequest = {
  return_to?: string
}

export type StartedNotificationLink = {
  /** Send it to the bot from the account that is to be linked. */
  code?: string
  expires_at: string
  /** An address that sends the code. */
  url?: string
  /** The address that got a mail with a link to confirm it. */
  sent_to?: string
}

export type StepStartedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'step.started'
  ts: string
  data: {
    /** Any JSON value. */
    step: unknown
    /** Any JSON value. */
    label: unknown
  }
}

export type Suggestions = {
  /** How many requests were read. */
  checked: number
  /** There are older approved or expired requests that were not read. */
  is_capped: boolean
  /** The version that the suggestions would change: `based_on` of the next save. */
  policy_version: number | null
  suggestions: RuleSuggestion[]
  /** Actions that people keep approving and for which no rule is suggested. */
  refused: {
    action: string
    reason: string
  }[]
}

export type Task = {
  id: string
  project_id: string
  wedge: string
  task_type: string
  status: 'queued' | 'provisioning' | 'running' | 'awaiting_approval' | 'succeeded' | 'failed' | 'rejected' | 'expired' | 'cancelled'
  /** Why a queued task waits, if it is not for a free slot. */
  queue_reason: string | null
  waiting_for: WaitingFor | null
  /** Any JSON value. */
  input: unknown
  /** Any JSON value. */
  actor: unknown
  constraints: {
    max_runtime_s: number
    max_cost_usd: number
    approval_required: boolean
  }
  tools: string[]
  output_schema: { [key: string]: unknown } | null
  /** Any JSON value. */
  output: unknown
  error: {
    reason: string
    message: string
  } | null
  cost_usd: number
  artifacts: Artifact[]
  /** The files that the task was given. */
  files: File[]
  client_id: string | null
  thread_id: string | null
  channel_id: string | null
  case_id: string | null
  schedule_id: string | null
  retry_of: string | null
  last_event_id: number
  created_at: string
  started_at: string | null
  finished_at: string | null
  /** When retention removed its events and files. */
  log_pruned_at: string | null
}

export type TaskCreatedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'task.created'
  ts: string
  data: {
    wedge: string
    task_type: string
    status: 'running'
    sandbox: string
    model: string
  }
}

export type TaskFeedback = {
  ok: boolean
  knowledge_id: string | null
}

export type TaskFinishedEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'task.finished'
  ts: string
  data: {
    status: 'succeeded' | 'failed' | 'rejected' | 'expired' | 'cancelled'
    error?: {
      reason: string
      message: string
    }
    duration_ms: number
  }
}

export type TaskList = {
  data: Task[]
  next_cursor: string | null
}

export type Thread = {
  id: string
  project_id: string
  channel_id: string
  /** Null if the channel was deleted. */
  channel: {
    id: string
    address: string
    adapter: string | null
  } | null
  client_id: string
  client_name: string | null
  subject: string | null
  status: 'open' | 'closed'
  message_count: number
  /** Messages of the client that the team has not read. */
  unread: number
  /** Since when the client waits for an answer that no run will give, and why. */
  unanswered: {
    since: string
    reason: string
    task_id: string | null
  } | null
  /** Who has taken the conversation over from the agent. */
  held_by: NamedActor | null
  /** The newest message, with the first 200 characters of its text. */
  last_message: {
    direction: 'inbound' | 'outbound'
    body: string
    at: string
    from: MessageSender | null
  } | null
  created_at: string
  updated_at: string
  messages: Message[]
  /** The approvals of the thread that wait for the team. */
  pending: string[]
  /** The newest 50 tasks of the thread, newest first. */
  tasks: ThreadTask[]
}

export type ThreadSummary = {
  id: string
  project_id: string
  channel_id: string
  /** Null if the channel was deleted. */
  channel: {
    id: string
    address: string
    adapter: string | null
  } | null
  client_id: string
  client_name: string | null
  subject: string | null
  status: 'open' | 'closed'
  message_count: number
  /** Messages of the client that the team has not read. */
  unread: number
  /** Since when the client waits for an answer that no run will give, and why. */
  unanswered: {
    since: string
    reason: string
    task_id: string | null
  } | null
  /** Who has taken the conversation over from the agent. */
  held_by: NamedActor | null
  /** The newest message, with the first 200 characters of its text. */
  last_message: {
    direction: 'inbound' | 'outbound'
    body: string
    at: string
    from: MessageSender | null
  } | null
  created_at: string
  updated_at: string
}

export type ThreadSummaryList = {
  data: ThreadSummary[]
  next_cursor: string | null
}

export type ThreadTask = {
  id: string
  task_type: string
  status: 'queued' | 'provisioning' | 'running' | 'awaiting_approval' | 'succeeded' | 'failed' | 'rejected' | 'expired' | 'cancelled'
  created_at: string
}

export type TokenDeltaEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'token.delta'
  ts: string
  data: {
    text: string
  }
}

export type ToolCalledEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'tool.called'
  ts: string
  data: {
    call_id: string
    tool: string
    /** Any JSON value. */
    input: unknown
    truncated?: true
  }
}

export type ToolResultEvent = {
  /** The same as `seq`. */
  id: number
  task_id: string
  /** Counts from 1 in each task, without gaps. */
  seq: number
  type: 'tool.result'
  ts: string
  data: {
    call_id: string
    tool: string
    ok: boolean
    /** Any JSON value. */
    output?: unknown
    /** Any JSON value. */
    error?: unknown
    truncated?: true
  }
}

export type Toolkit = {
  slug: string
  name: string
  description: string | null
}

export type ToolkitList = {
  data: Toolkit[]
  next_cursor: string | null
}

export type Trace = {
  task_id: string
  status: string
  /** Null before the run starts and after its events were pruned. */
  root: Span | null
  log_pruned_at: string | null
}

export type UpdateApprovalRequest = {
  /** The id or mail address of a member who may decide, or `me`; null: no member. */
  assignee: string | null
}

export type UpdateBrandRequest = {
  name?: string | null
  color?: string | null
  logo_file_id?: string | null
  favicon_file_id?: string | null
  welcome?: string | null
  language?: 'en' | 'de' | 'fr' | 'es'
  portal_channel_id?: string | null
  mail_connection_id?: string | null
  notify?: boolean
}

export type UpdateCaseRequest = {
  title?: string | null
  stage?: string
  /** Any JSON object. */
  data?: { [key: string]: unknown }
  status?: 'open' | 'closed'
  note?: string
  assignee_id?: string | null
  thread_id?: string | null
}

export type UpdateChannelRequest = {
  connection_id?: string
  address?: string
  wedge?: string
  task_type?: string
  /** The service that carries the messages; null: `/inbound` only. */
  adapter?: string | null
  /** In the form of the adapter. */
  config?: { [key: string]: unknown }
  /** How long the task of a message waits for more messages, which then become part of it. */
  settle_s?: number
}

export type UpdateClientRequest = {
  display_name?: string | null
  handles?: string[]
  /** Any JSON object. */
  metadata?: { [key: string]: unknown }
}

export type UpdateConnectionRequest = {
  kind?: 'email' | 'webhook' | 'custom' | 'broker' | 'mcp'
  name?: string
  /** The address and other settings of its kind. A custom connection may have `base_url` and `operations: [{name, description?, method, path, query?, headers?, body?, input_schema?, read?, idempotency_header?, success?, amount?}]`. */
  config?: { [key: string]: unknown }
  secret_ref?: string | null
}

export type UpdateConnectionToolRequest = {
  class: 'read' | 'ask' | 'off'
  /** The version that you saw; another one is a 409. */
  hash?: string
}

export type UpdateKnowledgeRequest = {
  name?: string
  content?: string
  kind?: 'note' | 'fact' | 'correction' | 'feedback' | 'answer' | 'seed'
  source?: string | null
  /** Any JSON object. */
  metadata?: { [key: string]: unknown }
}

export type UpdateMemberRequest = {
  name?: string | null
  role?: 'viewer' | 'operator' | 'admin' | 'owner'
}

export type UpdateMyNotificationsRequest = {
  settings: NotificationSettings | null
}

export type UpdatePolicyRequest = {
  auto_approve: {
    action: string
    max_amount_usd?: number
    max_per_task?: number
    max_per_day?: number
  }[]
  /** The `version` that the caller has read; 409 if there is a newer one. */
  based_on?: number | null
}

export type UpdateProjectRequest = {
  name?: string
  tier?: string
  wedges?: string[] | null
}

export type UpdateScheduleRequest = {
  name?: string
  wedge?: string
  task_type?: string
  cadence?: {
    kind: 'every'
    seconds: number
  } | {
    kind: 'daily'
    hour: number
    minute: number
  } | {
    kind: 'monthly'
    day: number
    hour: number
    minute: number
  } | {
    kind: 'cron'
    /** Five cron fields: minute, hour, day, month, weekday. */
    expr: string
    /** An IANA time zone. */
    tz: string
  }
  /** Any JSON value. */
  input?: unknown
  enabled?: boolean
  client_id?: string | null
  case_id?: string | null
}

export type UpdateThreadRequest = {
  /** `closed` also cancels the tasks that wait for their run, and withdraws what waits for an approval. */
  status?: 'open' | 'closed'
  /** `"me"`: the caller takes the conversation over from the agent; null: gives it back. */
  held_by?: 'me' | null
  /** The team has read every message. */
  read?: true
  /** Dismisses the mark that the client waits. */
  unanswered?: false
}

export type UpdateWebhookRequest = {
  url?: string
  events?: ('approval.requested' | 'approval.expiring' | 'task.finished' | 'connection.failing' | 'connection.tools_changed' | 'schedule.failed')[]
  enabled?: boolean
}

export type Vote = {
  ok: true
  decision: 'pending'
  votes: ApprovalVote[]
  needed: number
}

export type WaitingFor = {
  kind: 'thread' | 'capacity' | 'runner'
  /** The thread that the task waits for. */
  id?: string
}

export type Webhook = {
  id: string
  project_id: string
  url: string
  events: ('approval.requested' | 'approval.expiring' | 'task.finished' | 'connection.failing' | 'connection.tools_changed' | 'schedule.failed')[]
  enabled: boolean
  /** Until when the previous secret signs as well. */
  previous_secret_until: string | null
  created_at: string
  updated_at: string
}

export type WebhookDelivery = {
  /** The `webhook-id` header of every attempt. */
  id: string
  webhook_id: string
  project_id: string
  event: 'approval.requested' | 'approval.expiring' | 'task.finished' | 'connection.failing' | 'connection.tools_changed' | 'schedule.failed'
  payload: {
    id: string
    type: 'approval.requested' | 'approval.expiring' | 'task.finished' | 'connection.failing' | 'connection.tools_changed' | 'schedule.failed'
    created_at: string
    data: {
      id: string
    }
  }
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  next_at: string | null
  last_status: number | null
  last_error: string | null
  created_at: string
  delivered_at: string | null
}

export type WebhookDeliveryList = {
  data: WebhookDelivery[]
  next_cursor: string | null
}

export type WebhookList = {
  data: Webhook[]
  next_cursor: string | null
}

export type WebhookWithSecret = {
  id: string
  project_id: string
  url: string
  events: ('approval.requested' | 'approval.expiring' | 'task.finished' | 'connection.failing' | 'connection.tools_changed' | 'schedule.failed')[]
  enabled: boolean
  /** Until when the previous secret signs as well. */
  previous_secret_until: string | null
  created_at: string
  updated_at: string
  /** `whsec_…`, shown only here. */
  secret: string
}

export type Wedge = {
  wedge: string
  title: string
  /** As the author wrote it; empty if it is not valid. */
  manifest: { [key: string]: unknown }
  /** Valid, and enabled in at least one project in scope. */
  enabled: boolean
  problems: {
    file: string
    line: number
    message: string
  }[]
  /** By name. */
  task_types: { [key: string]: {
    input_schema: { [key: string]: unknown } | null
    /** An example input, from `example` or `rehearsals/<type>.input.json` of the wedge; null without one. */
    example: unknown
  } }
  skills: NamedText[]
  /** Skills as folders (`skills/<name>/SKILL.md`), whose files an agent reads when it needs them. */
  skill_folders: SkillFolder[]
  knowledge: {
    authored: NamedText[]
    /** The newest 200. */
    live: Knowledge[]
  }
}

export type WedgeSummary = {
  wedge: string
  title: string
  /** As the author wrote it; empty if it is not valid. */
  manifest: { [key: string]: unknown }
  /** Valid, and enabled in at least one project in scope. */
  enabled: boolean
  problems: {
    file: string
    line: number
    message: string
  }[]
}

export type WedgeSummaryList = {
  data: WedgeSummary[]
  next_cursor: string | null
}

export const OPERATIONS = {
  activateBlueprint: 'POST /v1/blueprints/{slug}/activate',
  answerIntakeQuestion: 'POST /v1/wedges/{wedge}/intake/{question}',
  approveApproval: 'POST /v1/approvals/{id}/approve',
  cancelTask: 'POST /v1/tasks/{id}/cancel',
  changePassword: 'POST /v1/auth/password',
  confirmNotificationLink: 'POST /v1/me/notifications/confirm',
  connectAccount: 'POST /v1/connections/{id}/broker/connect',
  connectToolkit: 'POST /v1/broker/toolkits/{toolkit}/connect',
  createApprovalComment: 'POST /v1/approvals/{id}/comments',
  createCase: 'POST /v1/cases',
  createCaseTask: 'POST /v1/cases/{id}/tasks',
  createChannel: 'POST /v1/channels',
  createClient: 'POST /v1/clients',
  createConnection: 'POST /v1/connections',
  createKey: 'POST /v1/keys',
  createKnowledge: 'POST /v1/wedges/{wedge}/knowledge',
  createMcpAuthorisation: 'POST /v1/mcp-authorisations',
  createNotificationLink: 'POST /v1/me/notifications/links',
  createPortalLink: 'POST /v1/clients/{id}/portal-link',
  createProject: 'POST /v1/projects',
  createSchedule: 'POST /v1/schedules',
  createTask: 'POST /v1/tasks',
  createTaskFeedback: 'POST /v1/tasks/{id}/feedback',
  createThreadMessage: 'POST /v1/threads/{id}/messages',
  createWebhook: 'POST /v1/webhooks',
  deleteChannel: 'DELETE /v1/channels/{id}',
  deleteConnection: 'DELETE /v1/connections/{id}',
  deleteFile: 'DELETE /v1/files/{id}',
  deleteHeldApproval: 'DELETE /v1/approvals/{id}/held',
  deleteKey: 'DELETE /v1/keys/{id}',
  deleteKnowledge: 'DELETE /v1/knowledge/{id}',
  deleteMcpAuthorisation: 'DELETE /v1/mcp-authorisations/{id}',
  deleteMember: 'DELETE /v1/members/{id}',
  deleteNotificationLink: 'DELETE /v1/me/notifications/links/{kind}',
  deleteNotifier: 'DELETE /v1/notifiers/{kind}',
  deletePolicy: 'DELETE /v1/wedges/{wedge}/policy',
  deleteRecord: 'DELETE /v1/records/{id}',
  deleteSchedule: 'DELETE /v1/schedules/{id}',
  deleteWebhook: 'DELETE /v1/webhooks/{id}',
  dismissIntakeQuestion: 'POST /v1/wedges/{wedge}/intake/{question}/dismiss',
  eraseClient: 'POST /v1/clients/{id}/erase',
  getAccountStatus: 'GET /v1/connections/{id}/broker/status',
  getAnalytics: 'GET /v1/analytics',
  getApproval: 'GET /v1/approvals/{id}',
  getBlueprintReadiness: 'GET /v1/blueprints/{slug}/readiness',
  getBrand: 'GET /v1/brand',
  getCase: 'GET /v1/cases/{id}',
  getChannel: 'GET /v1/channels/{id}',
  getClient: 'GET /v1/clients/{id}',
  getConnection: 'GET /v1/connections/{id}',
  getConnectionHealth: 'GET /v1/connections/{id}/health',
  getFileMeta: 'GET /v1/files/{id}/meta',
  getIntake: 'GET /v1/wedges/{wedge}/intake',
  getKey: 'GET /v1/keys/{id}',
  getKnowledge: 'GET /v1/knowledge/{id}',
  getMcpConsent: 'GET /v1/mcp-oauth/consent',
  getMember: 'GET /v1/members/{id}',
  getMeta: 'GET /v1/meta',
  getMyNotifications: 'GET /v1/me/notifications',
  getNeedsYou: 'GET /v1/needs-you',
  getNotificationSettings: 'GET /v1/notification-settings',
  getPolicy: 'GET /v1/wedges/{wedge}/policy',
  getProject: 'GET /v1/projects/{id}',
  getRecord: 'GET /v1/records/{id}',
  getSchedule: 'GET /v1/schedules/{id}',
  getTask: 'GET /v1/tasks/{id}',
  getTaskTrace: 'GET /v1/tasks/{id}/trace',
  getThread: 'GET /v1/threads/{id}',
  getWebhook: 'GET /v1/webhooks/{id}',
  getWedge: 'GET /v1/wedges/{wedge}',
  inviteMember: 'POST /v1/members',
  listApprovalComments: 'GET /v1/approvals/{id}/comments',
  listApprovals: 'GET /v1/approvals',
  listAuditEntries: 'GET /v1/audit',
  listBlueprints: 'GET /v1/blueprints',
  listCaseFiles: 'GET /v1/cases/{id}/files',
  listCases: 'GET /v1/cases',
  listChannelAdapters: 'GET /v1/channel-adapters',
  listChannels: 'GET /v1/channels',
  listClients: 'GET /v1/clients',
  listConnectionTools: 'GET /v1/connections/{id}/tools',
  listConnections: 'GET /v1/connections',
  listFiles: 'GET /v1/files',
  listKeys: 'GET /v1/keys',
  listKnowledge: 'GET /v1/wedges/{wedge}/knowledge',
  listKnowledgeRevisions: 'GET /v1/knowledge/{id}/revisions',
  listMcpAuthorisations: 'GET /v1/mcp-authorisations',
  listMembers: 'GET /v1/members',
  listNotifiers: 'GET /v1/notifiers',
  listPresets: 'GET /v1/presets',
  listProjects: 'GET /v1/projects',
  listRecords: 'GET /v1/records',
  listSchedules: 'GET /v1/schedules',
  listSuggestions: 'GET /v1/wedges/{wedge}/suggestions',
  listTaskActions: 'GET /v1/tasks/{id}/actions',
  listTasks: 'GET /v1/tasks',
  listThreads: 'GET /v1/threads',
  listToolkits: 'GET /v1/broker/toolkits',
  listWebhookDeliveries: 'GET /v1/webhooks/{id}/deliveries',
  listWebhooks: 'GET /v1/webhooks',
  listWedges: 'GET /v1/wedges',
  provisionBlueprint: 'POST /v1/blueprints/{slug}/provision',
  receiveMessage: 'POST /v1/channels/{id}/inbound',
  redeliverWebhook: 'POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver',
  refreshConnectionTools: 'POST /v1/connections/{id}/tools/refresh',
  rejectApproval: 'POST /v1/approvals/{id}/reject',
  retryTask: 'POST /v1/tasks/{id}/retry',
  reviseApproval: 'POST /v1/approvals/{id}/revise',
  revokePortalAccess: 'POST /v1/clients/{id}/portal-revoke',
  rotateWebhookSecret: 'POST /v1/webhooks/{id}/rotate',
  runSchedule: 'POST /v1/schedules/{id}/run',
  saveRecord: 'POST /v1/records',
  setChannelSecret: 'POST /v1/channels/{id}/secret',
  setConnectionSecret: 'POST /v1/connections/{id}/secret',
  setNotifier: 'PUT /v1/notifiers/{kind}',
  setNotifierSecret: 'POST /v1/notifiers/{kind}/secret',
  simulatePolicy: 'POST /v1/wedges/{wedge}/policy/simulate',
  startConnectionOauth: 'POST /v1/connections/{id}/oauth/start',
  startThreadTask: 'POST /v1/threads/{id}/tasks',
  testConnection: 'POST /v1/connections/{id}/test',
  updateApproval: 'PUT /v1/approvals/{id}',
  updateBrand: 'PUT /v1/brand',
  updateCase: 'PUT /v1/cases/{id}',
  updateChannel: 'PUT /v1/channels/{id}',
  updateClient: 'PUT /v1/clients/{id}',
  updateConnection: 'PUT /v1/connections/{id}',
  updateConnectionTool: 'PUT /v1/connections/{id}/tools/{name}',
  updateKnowledge: 'PUT /v1/knowledge/{id}',
  updateMember: 'PUT /v1/members/{id}',
  updateMyNotifications: 'PUT /v1/me/notifications',
  updateNotificationSettings: 'PUT /v1/notification-settings',
  updatePolicy: 'PUT /v1/wedges/{wedge}/policy',
  updateProject: 'PUT /v1/projects/{id}',
  updateProjectWedge: 'PUT /v1/projects/{id}/wedges/{wedge}',
  updateSchedule: 'PUT /v1/schedules/{id}',
  updateThread: 'PUT /v1/threads/{id}',
  updateWebhook: 'PUT /v1/webhooks/{id}',
  verifyAudit: 'GET /v1/audit/verify',
} as const

export interface Operations {
  activateBlueprint: { params: { slug: string }; result: ActivateBlueprintResponse }
  answerIntakeQuestion: { params: { wedge: string; question: string; body: AnswerIntakeQuestionRequest }; result: IntakeQuestion }
  approveApproval: { params: { id: string; body?: ApproveApprovalRequest }; result: ApproveResult }
  cancelTask: { params: { id: string }; result: Task }
  changePassword: { params: { body: ChangePasswordRequest }; result: undefined }
  confirmNotificationLink: { params: { body: ConfirmNotificationLinkRequest }; result: NotificationLink }
  connectAccount: { params: { id: string; body?: ConnectAccountRequest }; result: Authorisation }
  connectToolkit: { params: { toolkit: string; body?: ConnectToolkitRequest }; result: Authorisation }
  createApprovalComment: { params: { id: string; body: CreateApprovalCommentRequest }; result: ApprovalComment }
  createCase: { params: { body: CreateCaseRequest }; result: Case }
  createCaseTask: { params: { id: string; body: CreateCaseTaskRequest }; result: Task }
  createChannel: { params: { body: CreateChannelRequest }; result: Channel }
  createClient: { params: { body?: CreateClientRequest }; result: Client }
  createConnection: { params: { body: CreateConnectionRequest }; result: ConnectionWithWarnings }
  createKey: { params: { body: CreateKeyRequest }; result: KeyWithSecret }
  createKnowledge: { params: { wedge: string; body: CreateKnowledgeRequest }; result: Knowledge }
  createMcpAuthorisation: { params: { body: CreateMcpAuthorisationRequest }; result: CreateMcpAuthorisationResponse }
  createNotificationLink: { params: { body: CreateNotificationLinkRequest }; result: StartedNotificationLink }
  createPortalLink: { params: { id: string }; result: CreatePortalLinkResponse }
  createProject: { params: { body: CreateProjectRequest }; result: ProjectDetail }
  createSchedule: { params: { body: CreateScheduleRequest }; result: Schedule }
  createTask: { params: { body: CreateTaskRequest }; result: Task }
  createTaskFeedback: { params: { id: string; body?: CreateTaskFeedbackRequest }; result: TaskFeedback }
  createThreadMessage: { params: { id: string; body: CreateThreadMessageRequest }; result: Message }
  createWebhook: { params: { body: CreateWebhookRequest }; result: WebhookWithSecret }
  deleteChannel: { params: { id: string }; result: undefined }
  deleteConnection: { params: { id: string }; result: undefined }
  deleteFile: { params: { id: string }; result: undefined }
  deleteHeldApproval: { params: { id: string }; result: undefined }
  deleteKey: { params: { id: string }; result: undefined }
  deleteKnowledge: { params: { id: string }; result: undefined }
  deleteMcpAuthorisation: { params: { id: string }; result: undefined }
  deleteMember: { params: { id: string }; result: undefined }
  deleteNotificationLink: { params: { kind: string }; result: undefined }
  deleteNotifier: { params: { kind: string }; result: undefined }
  deletePolicy: { params: { wedge: string }; result: undefined }
  deleteRecord: { params: { id: string }; result: undefined }
  deleteSchedule: { params: { id: string }; result: undefined }
  deleteWebhook: { params: { id: string }; result: undefined }
  dismissIntakeQuestion: { params: { wedge: string; question: string }; result: IntakeQuestion }
  eraseClient: { params: { id: string }; result: Erasure }
  getAccountStatus: { params: { id: string }; result: GetAccountStatusResponse }
  getAnalytics: { params: { days?: number }; result: Analytics }
  getApproval: { params: { id: string }; result: ApprovalDetail }
  getBlueprintReadiness: { params: { slug: string }; result: Readiness }
  getBrand: { params: object; result: Brand }
  getCase: { params: { id: string }; result: Case }
  getChannel: { params: { id: string }; result: Channel }
  getClient: { params: { id: string }; result: Client }
  getConnection: { params: { id: string }; result: Connection }
  getConnectionHealth: { params: { id: string }; result: ConnectionHealth }
  getFileMeta: { params: { id: string }; result: File }
  getIntake: { params: { wedge: string }; result: Intake }
  getKey: { params: { id: string }; result: Key }
  getKnowledge: { params: { id: string }; result: Knowledge }
  getMcpConsent: { params: { client_id: string; redirect_uri: string; response_type?: string; code_challenge?: string; code_challenge_method?: string; resource?: string; state?: string }; result: McpConsent }
  getMember: { params: { id: string }; result: Member }
  getMeta: { params: object; result: Meta }
  getMyNotifications: { params: object; result: MyNotifications }
  getNeedsYou: { params: object; result: NeedsYou }
  getNotificationSettings: { params: object; result: NotificationSettings }
  getPolicy: { params: { wedge: string }; result: Policy }
  getProject: { params: { id: string }; result: ProjectDetail }
  getRecord: { params: { id: string }; result: Record }
  getSchedule: { params: { id: string }; result: Schedule }
  getTask: { params: { id: string }; result: Task }
  getTaskTrace: { params: { id: string }; result: Trace }
  getThread: { params: { id: string }; result: Thread }
  getWebhook: { params: { id: string }; result: Webhook }
  getWedge: { params: { wedge: string }; result: Wedge }
  inviteMember: { params: { body: InviteMemberRequest }; result: Invite }
  listApprovalComments: { params: { id: string; limit?: number; cursor?: string }; result: ApprovalCommentList }
  listApprovals: { params: { status?: 'pending' | 'auto_approved' | 'approved' | 'rejected' | 'expired'; task_id?: string; wedge?: string; path?: 'action' | 'tool' | 'question'; assignee?: string; held?: 'me'; limit?: number; cursor?: string }; result: ApprovalList }
  listAuditEntries: { params: { limit?: number; cursor?: string; chain?: 'project' | 'organisation'; action?: string; subject?: string; from_seq?: number; to_seq?: number }; result: AuditEntryList }
  listBlueprints: { params: { limit?: number; cursor?: string }; result: BlueprintList }
  listCaseFiles: { params: { id: string }; result: ListCaseFilesResponse }
  listCases: { params: { wedge?: string; status?: 'open' | 'closed'; stage?: string; client_id?: string; thread_id?: string; assignee_id?: string; limit?: number; cursor?: string }; result: CaseList }
  listChannelAdapters: { params: object; result: ListChannelAdaptersResponse }
  listChannels: { params: { limit?: number; cursor?: string }; result: ChannelList }
  listClients: { params: { handle?: string; limit?: number; cursor?: string }; result: ClientList }
  listConnectionTools: { params: { id: string }; result: ListConnectionToolsResponse }
  listConnections: { params: { limit?: number; cursor?: string; kind?: 'email' | 'webhook' | 'custom' | 'broker' | 'mcp'; client_id?: string }; result: ConnectionList }
  listFiles: { params: { client_id?: string; limit?: number; cursor?: string }; result: FileList }
  listKeys: { params: { limit?: number; cursor?: string }; result: KeyList }
  listKnowledge: { params: { wedge: string; limit?: number; cursor?: string; kind?: 'note' | 'fact' | 'correction' | 'feedback' | 'answer' | 'seed' }; result: KnowledgeList }
  listKnowledgeRevisions: { params: { id: string; limit?: number; cursor?: string }; result: KnowledgeRevisionList }
  listMcpAuthorisations: { params: { limit?: number; cursor?: string }; result: McpAuthorisationList }
  listMembers: { params: { limit?: number; cursor?: string }; result: MemberList }
  listNotifiers: { params: object; result: NotifierList }
  listPresets: { params: object; result: PresetList }
  listProjects: { params: { limit?: number; cursor?: string }; result: ProjectList }
  listRecords: { params: { wedge?: string; collection?: string; key?: string; where?: string; limit?: number; cursor?: string }; result: RecordList }
  listSchedules: { params: { wedge?: string; limit?: number; cursor?: string }; result: ScheduleList }
  listSuggestions: { params: { wedge: string }; result: Suggestions }
  listTaskActions: { params: { id: string; limit?: number; cursor?: string }; result: ActionList }
  listTasks: { params: { status?: 'queued' | 'provisioning' | 'running' | 'awaiting_approval' | 'succeeded' | 'failed' | 'rejected' | 'expired' | 'cancelled'; wedge?: string; client_id?: string; case_id?: string; expired_since?: string; limit?: number; cursor?: string }; result: TaskList }
  listThreads: { params: { order?: 'created' | 'activity'; client_id?: string; channel_id?: string; status?: 'open' | 'closed'; unread?: 'true'; unanswered?: 'true'; held_by?: 'me'; q?: string; limit?: number; cursor?: string }; result: ThreadSummaryList }
  listToolkits: { params: { search?: string; limit?: number; cursor?: string }; result: ToolkitList }
  listWebhookDeliveries: { params: { id: string; status?: 'pending' | 'delivered' | 'failed'; limit?: number; cursor?: string }; result: WebhookDeliveryList }
  listWebhooks: { params: { limit?: number; cursor?: string }; result: WebhookList }
  listWedges: { params: { limit?: number; cursor?: string }; result: WedgeSummaryList }
  provisionBlueprint: { params: { slug: string }; result: ProvisionBlueprintResponse }
  receiveMessage: { params: { id: string; body: ReceiveMessageRequest }; result: ReceiveMessageResponse }
  redeliverWebhook: { params: { id: string; delivery: string }; result: WebhookDelivery }
  refreshConnectionTools: { params: { id: string }; result: RefreshConnectionToolsResponse }
  rejectApproval: { params: { id: string; body?: RejectApprovalRequest }; result: Decision }
  retryTask: { params: { id: string }; result: Task }
  reviseApproval: { params: { id: string; body: ReviseApprovalRequest }; result: Decision }
  revokePortalAccess: { params: { id: string }; result: RevokePortalAccessResponse }
  rotateWebhookSecret: { params: { id: string }; result: WebhookWithSecret }
  runSchedule: { params: { id: string }; result: Task }
  saveRecord: { params: { body: SaveRecordRequest }; result: Record }
  setChannelSecret: { params: { id: string; body: SetChannelSecretRequest }; result: Channel }
  setConnectionSecret: { params: { id: string; body: SetConnectionSecretRequest }; result: Connection }
  setNotifier: { params: { kind: string; body: SetNotifierRequest }; result: Notifier }
  setNotifierSecret: { params: { kind: string; body: SetNotifierSecretRequest }; result: Notifier }
  simulatePolicy: { params: { wedge: string; body: SimulatePolicyRequest }; result: PolicySimulation }
  startConnectionOauth: { params: { id: string; body?: StartConnectionOauthRequest }; result: OauthStart }
  startThreadTask: { params: { id: string }; result: Task }
  testConnection: { params: { id: string }; result: ConnectionTest }
  updateApproval: { params: { id: string; body: UpdateApprovalRequest }; result: Approval }
  updateBrand: { params: { body?: UpdateBrandRequest }; result: Brand }
  updateCase: { params: { id: string; body?: UpdateCaseRequest }; result: Case }
  updateChannel: { params: { id: string; body?: UpdateChannelRequest }; result: Channel }
  updateClient: { params: { id: string; body?: UpdateClientRequest }; result: Client }
  updateConnection: { params: { id: string; body?: UpdateConnectionRequest }; result: ConnectionWithWarnings }
  updateConnectionTool: { params: { id: string; name: string; body: UpdateConnectionToolRequest }; result: ConnectionTool }
  updateKnowledge: { params: { id: string; body?: UpdateKnowledgeRequest }; result: Knowledge }
  updateMember: { params: { id: string; body?: UpdateMemberRequest }; result: Member }
  updateMyNotifications: { params: { body: UpdateMyNotificationsRequest }; result: MyNotifications }
  updateNotificationSettings: { params: { body?: NotificationSettings }; result: NotificationSettings }
  updatePolicy: { params: { wedge: string; body: UpdatePolicyRequest }; result: Policy }
  updateProject: { params: { id: string; body?: UpdateProjectRequest }; result: ProjectDetail }
  updateProjectWedge: { params: { id: string; wedge: string }; result: ProjectDetail }
  updateSchedule: { params: { id: string; body?: UpdateScheduleRequest }; result: Schedule }
  updateThread: { params: { id: string; body?: UpdateThreadRequest }; result: ThreadSummary }
  updateWebhook: { params: { id: string; body?: UpdateWebhookRequest }; result: Webhook }
  verifyAudit: { params: { chain?: 'project' | 'organisation' }; result: AuditVerification }
}
