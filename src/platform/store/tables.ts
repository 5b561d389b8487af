/**
 * The rows, one interface for each table. Columns are text or numbers, so that one schema serves both stores: JSON and ISO
 * times are text, booleans are 0 or 1, and money is whole micro-dollars.
 *
 * PostgreSQL gets these comments too, and the types below say what a column is in the views for SQL tools
 * (`docs/sql.md`): run `npm run table-comments` after a change.
 */
type Flag = 0 | 1
type JsonText = string
type IsoTime = string
type Day = string
/** Never in a view: a credential, or a value by which one can be checked or found. */
type SecretText = string

/** A customer of this deployment, with its members and projects. */
export interface OrganisationRow {
  id: string
  name: string
  created_at: IsoTime
  /** 1 for the organisation that the first start created; unique, so that replicas that start together create one. */
  founding: 1 | null
}

/** A project: the scope of tasks, clients, connections, records and API keys. */
export interface ProjectRow {
  id: string
  org_id: string
  slug: string
  name: string
  /** Selects the model, by `SVC_MODEL_<TIER>`. */
  tier: string
  /** JSON list of enabled wedge slugs; null: all. */
  wedges: JsonText | null
  created_at: IsoTime
}

/** The bytes of a project's records, and of the events and files of its finished tasks. */
export interface StorageUsageRow {
  project_id: string
  bytes: number
}

/** A person of an organisation, who signs in to the console. */
export interface MemberRow {
  id: string
  org_id: string
  email: string
  name: string | null
  role: string
  /** A scrypt hash; null while the invitation is open. */
  password: SecretText | null
  /** The hash of the token of an open invitation. */
  invite_hash: SecretText | null
  /** When an open invitation ends. */
  invite_expires_at: IsoTime | null
  created_at: IsoTime
}

/** An API key of a project. */
export interface KeyRow {
  id: string
  project_id: string
  name: string
  role: string
  /** The hash of the key. */
  hash: SecretText
  /** The first and last characters of the key, by which people recognise it. */
  hint: string
  created_at: IsoTime
  last_used_at: IsoTime | null
}

/** A session of a member who has signed in. */
export interface SessionRow {
  /** The hash of the session token. */
  hash: SecretText
  member_id: string
  created_at: IsoTime
  expires_at: IsoTime
}

/**
 * Counts of limits in fixed time windows: failed sign-ins, calls without credential, and messages by sender and domain. The
 * table is named by its first use.
 */
export interface RateWindowRow {
  /** Whose count it is, such as an IP address, an account, a client or a mail domain. */
  subject: string
  /** The start of the time window of 15 minutes. */
  window_start: IsoTime
  /** The attempts, calls or messages in the window. */
  count: number
}

/** A token that a provider has signed without the body of its call, for ten minutes. */
export interface SignedTokenRow {
  /** The hash of the signature, which differs for each token, time and key. */
  signature_hash: string
  channel_id: string
  /** The hash of the body that came with the token. */
  body_hash: string
  created_at: IsoTime
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

/** The times of a project's last creations in a ring: creation n is allowed once creation n − limit is a minute old. */
export interface RateRingRow {
  project_id: string
  /** The position in the ring. */
  slot: number
  /** The time of the creation, in milliseconds since 1970. */
  at: number
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

/** Entries of the conversation of a run, in the order in which they were stored. */
export interface TranscriptRow {
  task_id: string
  /** The number of the row in its task. */
  seq: number
  /** A JSON array of `TranscriptEntry`. */
  entries: JsonText
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

/** A request of an agent that needs, or needed, a decision: an action, a tool call or a question. */
export interface ApprovalRow {
  id: string
  project_id: string
  task_id: string
  wedge: string
  task_type: string
  /** What the agent wants to do, such as `send_email`. */
  action: string
  /** How risky the wedge says that the action is. */
  risk: string
  /** What was asked for: `action`, `tool` or `question`. */
  path: string
  /** What the agent proposed to send. */
  payload: JsonText
  /** The hash of what was approved, which is what is sent. */
  payload_sha256: string
  /** The fields that a person changed before the approval; null: none. */
  edited: JsonText | null
  status: string
  /** Why a rule approved the request without a person, or why none did. */
  policy_reason: string | null
  /** The rule that approved the request. */
  policy_rule: JsonText | null
  /** Why a person rejected the request. */
  reason: string | null
  /** 1: a person sent a rejected request back with a note (`reason`), and the task continues. */
  revise: Flag
  /** A remark of the person who decided. */
  note: string | null
  connection_id: string | null
  /** The name of the connection when the approval was requested. */
  connection: string | null
  /** The client who may answer a question; null: only the team decides. */
  client_id: string | null
  /** JSON: the tool that the action calls, as it was when the approval was requested; null without a named tool. */
  tool: JsonText | null
  created_at: IsoTime
  expires_at: IsoTime | null
  decided_at: IsoTime | null
  /** What decided: a member, a key, a client or the system. */
  decided_by_kind: string | null
  /** The id of the member, key or client that decided. */
  decided_by_id: string | null
  /** How many people must approve the same payload. */
  needed: number
  /** JSON list of roles and members who may decide; null: every member and key whose role allows decisions. */
  approvers: JsonText | null
  /** 1: the member or key that started the task may not decide. */
  excludes_requester: Flag
  /** JSON: when to ask more people, and whom. */
  escalate: JsonText | null
  /** When the last step of `escalate` was taken that is past. */
  escalated_at: IsoTime | null
  /** When people are told next: of the request, or by a step of `escalate`; null: nobody is. */
  notify_at: IsoTime | null
  /** The member who is asked to decide. Others may decide as well. */
  assignee_id: string | null
  /** Grows with each vote while it is pending: messages that show an older one are rewritten. */
  version: number
  /** 1: there may be messages to members that show the request as pending. */
  has_messages: Flag
  /** When the approval of a person counts that can still be withdrawn; null: there is none. */
  held_until: IsoTime | null
  /** JSON: the approval that can still be withdrawn, as `HeldApproval`. */
  held: JsonText | null
  /** Who has made that approval. */
  held_by_id: string | null
  /** JSON: the last approval that was held and could not be made, as `DroppedApproval`. */
  dropped: JsonText | null
}

/** One person's approval of a request that needs several. Only votes for the current payload count. */
export interface ApprovalVoteRow {
  approval_id: string
  project_id: string
  /** What voted: a member or a key. */
  voter_kind: string
  /** The id of the member or key that voted. */
  voter_id: string
  /** The hash of the payload that the vote is for. */
  payload_sha256: string
  created_at: IsoTime
}

/** A remark of a member about an approval. */
export interface ApprovalCommentRow {
  id: string
  project_id: string
  approval_id: string
  body: string
  /** What wrote the remark: a member or a key. */
  author_kind: string
  /** The id of the member or key that wrote the remark. */
  author_id: string
  created_at: IsoTime
}

/** The service through which a project tells its members of approvals: one of each kind. */
export interface NotifierRow {
  id: string
  project_id: string
  /** The service: `slack`, `telegram` or `mail`. */
  kind: 'slack' | 'telegram' | 'mail'
  connection_id: string
  created_at: IsoTime
}

/** What a project, or one member of it, wants to be told of, when and where. */
export interface NotificationSettingsRow {
  project_id: string
  /** Empty for the settings of the project. */
  member_id: string
  /** What to be told of, when and where. */
  settings: JsonText
  updated_at: IsoTime
}

/** Where a member gets messages of one kind. */
export interface NotificationLinkRow {
  project_id: string
  member_id: string
  /** The service: `slack`, `telegram` or `mail`. */
  kind: 'slack' | 'telegram' | 'mail'
  /** The user id at Slack, the chat id at Telegram, or the mail address. */
  address: string
  /** When the member confirmed the address. */
  linked_at: IsoTime
}

/** A code that links the account from which it is sent to a member, or that confirms a mail address. */
export interface NotificationCodeRow {
  /** The hash of the code. */
  hash: SecretText
  project_id: string
  member_id: string
  /** The service: `slack`, `telegram` or `mail`. */
  kind: 'slack' | 'telegram' | 'mail'
  /** The mail address that the code confirms; null: that from which the code is sent. */
  address: string | null
  expires_at: IsoTime
}

/** A message about an approval to one member. It is rewritten after each vote, and when the approval is decided. */
export interface NotificationMessageRow {
  id: string
  project_id: string
  approval_id: string
  member_id: string
  /** The service: `slack`, `telegram` or `mail`. */
  kind: 'slack' | 'telegram' | 'mail'
  /** Where the message is sent: a user id, a chat id or a mail address. */
  address: string
  /** `waiting`, `sent`, `failed` or `dropped`. */
  state: 'waiting' | 'sent' | 'failed' | 'dropped'
  /** 1: it is sent together with the other waiting messages to the member. */
  is_digest: Flag
  /** When the message is sent, or tried again. */
  due_at: IsoTime
  attempts: number
  /** The replica that sends it, until `claimed_until`. */
  claimed_by: string | null
  /** Until when the replica that sends the message may take. */
  claimed_until: IsoTime | null
  /** The id of the provider, which is needed to rewrite the message. */
  external_id: string | null
  /** What the message shows: the status of the approval. */
  shown: string
  /** The `version` of the approval that the message shows. */
  shown_version: number
  error: string | null
  created_at: IsoTime
  sent_at: IsoTime | null
}

/** The link of a mail to the page where its reader decides. It works once, for one member and one approval. */
export interface DecisionLinkRow {
  /** The hash of the token of the link. */
  hash: SecretText
  project_id: string
  approval_id: string
  member_id: string
  expires_at: IsoTime
  used_at: IsoTime | null
}

/** The effect ledger: one row for each external effect, inserted before the call is sent. */
export interface EffectRow {
  /** The approval; for a member's own answer in a thread the id of the message. */
  approval_id: string
  project_id: string
  /** Null for a member's own answer in a thread. */
  task_id: string | null
  /** Null: nothing was sent, such as a reply that is shown in the portal. */
  connection_id: string | null
  /** The name of the connection when the action was sent. */
  connection: string | null
  /** The action that was sent. */
  action: string
  /** The hash of what was sent. */
  payload_sha256: string
  /** `sent` until the outcome is known. After a crash `sent` becomes `unknown`; only a person lets it be sent again. */
  outcome: string
  /** The HTTP status of the response; null: there was none. */
  status: number | null
  error: string | null
  /** The `ActionResult`, for a run that another process may continue; null if it is not known or not needed. */
  result: JsonText | null
  /** The replica that sent the action. */
  replica: string
  created_at: IsoTime
  finished_at: IsoTime | null
}

/** Uses of an auto-approve rule; `span` is `task:<id>` or `day:<UTC day>`. */
export interface PolicyCounterRow {
  project_id: string
  /** A hash of the rule. */
  rule: string
  /** What the uses are counted for: `task:<id>` or `day:<UTC day>`. */
  span: string
  /** How often the rule has approved a request. */
  used: number
}

/** A version of the rules that a project has saved for a wedge. The newest version applies. */
export interface WedgePolicyRow {
  project_id: string
  wedge: string
  /** Counted from 1. */
  version: number
  /** JSON list of rules; null: from this version on the rules of the wedge's folder apply. */
  auto_approve: JsonText | null
  /** What saved the version: a member or a key. */
  actor_kind: string
  /** The id of the member or key that saved the version. */
  actor_id: string
  created_at: IsoTime
}

/** An account at an outside service, through which actions are sent and data is read. */
export interface ConnectionRow {
  id: string
  project_id: string
  /** `founder` for a connection of the project, `client` for that of a client. */
  owner_kind: string
  /** The id of the project or of the client. */
  owner_id: string
  /** The kind, such as `email`, `mcp` or `custom`. */
  kind: string
  name: string
  /** How the service is reached, without its credential. */
  config: JsonText
  /** Where the credential is, if it is not in the vault under the id of the connection. */
  secret_ref: string | null
  /** The provider account of a broker authorisation that is not finished; moves into `config` once it is ACTIVE. */
  pending_account: string | null
  /** When a call last succeeded. */
  last_ok_at: IsoTime | null
  last_error: string | null
  last_error_at: IsoTime | null
  created_at: IsoTime
  updated_at: IsoTime
}

/** A tool of an MCP server. */
export interface ConnectionToolRow {
  connection_id: string
  name: string
  description: string
  /** The JSON Schema of the tool's input. */
  input_schema: JsonText
  /** The hints that the server gives about the tool. */
  annotations: JsonText
  /** Of the server's address and the tool's name, description and schema. */
  hash: string
  /** What an admin decided: `read` without approval, `ask` first, or `off`. */
  class: 'read' | 'ask' | 'off'
  /** Whether an admin has seen this version: `confirmed`, `new` or `changed`. */
  state: 'confirmed' | 'new' | 'changed'
  /** The server's order. */
  position: number
  updated_at: IsoTime
}

/** The files that the MCP server of a connection keeps between calls. */
export interface ConnectionFilesRow {
  connection_id: string
  /** Empty: of tasks without a client. */
  client_id: string
  /** Each file by its path, in base64. */
  content: JsonText
  updated_at: IsoTime
}

/** An encrypted secret, such as the credential of a connection. */
export interface VaultRow {
  project_id: string
  /** The name of the secret: the id of its connection, channel or webhook, or a name that an admin chose. */
  key: string
  connection_id: string
  /** What the secret is for. */
  kind: string
  /** The encrypted secret. */
  envelope: SecretText
  updated_at: IsoTime
}

/** An authorisation that waits for the callback of the provider. A connection has at most one. */
export interface OauthFlowRow {
  connection_id: string
  project_id: string
  /** The state itself is only in the URL that the person opens. */
  state_hash: SecretText
  /** Seals the code verifier and the token endpoint. */
  envelope: SecretText
  /** The path of this service that the browser is sent to afterwards. */
  return_to: string
  /** JSON of the actor that started it. */
  actor: JsonText
  expires_at: IsoTime
}

/** Lets one replica at a time request tokens for a connection. */
export interface TokenLockRow {
  connection_id: string
  /** Raised by every holder, so that a holder whose lock expired cannot release the lock of the next one. */
  attempt: number
  /** Free once this time has passed: a replica that died does not block the others. */
  expires_at: IsoTime
  /** Why the last attempt failed. Callers that waited for it fail with the same sentence. */
  error: string | null
}

/** A way in which messages of clients arrive, such as a mailbox or a chat. */
export interface ChannelRow {
  id: string
  project_id: string
  connection_id: string
  /** The address to which clients write. */
  address: string
  wedge: string
  task_type: string
  /** Null: messages come through `/inbound` only. */
  adapter: string | null
  /** JSON, in the form of the adapter. */
  config: JsonText
  /** How long the task of a message waits for more messages. */
  settle_s: number
  /** JSON: what an adapter that fetches messages has read so far. */
  progress: JsonText | null
  /** The replica that fetches the messages, until `poller_until`. */
  poller: string | null
  /** Until when the replica fetches the messages. */
  poller_until: IsoTime | null
  /** When the last message arrived. */
  last_received_at: IsoTime | null
  last_error: string | null
  last_error_at: IsoTime | null
  created_at: IsoTime
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

/** The files of a message, in their order. */
export interface MessageFileRow {
  message_id: string
  /** The position in the list. */
  n: number
  file_id: string
}

/** A person for whom the project works. */
export interface ClientRow {
  id: string
  project_id: string
  display_name: string | null
  /** What the project keeps about the client. */
  metadata: JsonText
  created_at: IsoTime
  updated_at: IsoTime
}

/** An address of a client, such as a mail address or a phone number. */
export interface ClientHandleRow {
  project_id: string
  /** In lower case, because handles are compared without case. */
  handle: string
  /** The address as the client wrote it. */
  shown: string
  client_id: string
  /** 0: the client typed it, and nobody has checked that it is the client's. */
  is_verified: Flag
}

/** A sign-in link to the portal that was created for a client. */
export interface PortalLinkRow {
  /** The hash of the token of the link. */
  hash: SecretText
  project_id: string
  client_id: string
  created_at: IsoTime
  expires_at: IsoTime
  used_at: IsoTime | null
  revoked_at: IsoTime | null
}

/** What clients see of a project. */
export interface BrandRow {
  project_id: string
  name: string | null
  /** As `#rrggbb`. */
  color: string | null
  logo_file_id: string | null
  favicon_file_id: string | null
  /** The text that clients see first in the portal. */
  welcome: string | null
  language: string
  /** The channel of the conversations that clients begin in the portal. */
  portal_channel_id: string | null
  /** Sends sign-in links and notices. */
  mail_connection_id: string | null
  /** Clients get a mail about answers since then; null: they get none. */
  notify_since: IsoTime | null
  updated_at: IsoTime
}

/** The unsubscribe link of a mail. */
export interface NoticeTokenRow {
  /** The hash of the token of the link. */
  hash: SecretText
  project_id: string
  client_id: string
  created_at: IsoTime
}

/** A client who wants no mails about answers. */
export interface NoticeOptOutRow {
  client_id: string
  project_id: string
  /** When the client unsubscribed. */
  at: IsoTime
}

/** A session of a client in the portal. */
export interface ClientSessionRow {
  /** The hash of the session token. */
  hash: SecretText
  project_id: string
  client_id: string
  created_at: IsoTime
  expires_at: IsoTime
}

/** A conversation with a client on a channel. */
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
  reply_token: SecretText | null
  /** The member or key that has taken the conversation over from the agent. */
  held_by_kind: string | null
  /** The id of the member or key that has taken the conversation over. */
  held_by_id: string | null
  /** The number of the newest message that the team has read. */
  read_count: number
  /** Since when the client waits for an answer that no run will give. */
  unanswered_at: IsoTime | null
  /** Why no run will answer. */
  unanswered_reason: string | null
  /** The task that ended without an answer. */
  unanswered_task_id: string | null
  /** The number of the newest message that the client has read in the portal. */
  client_read_count: number
  /** The number of the newest message for which it was decided whether the client gets a mail. */
  client_told_count: number
  created_at: IsoTime
  updated_at: IsoTime
}

/** A message of a conversation, in either direction. */
export interface MessageRow {
  id: string
  /** The position in the thread: ids of one millisecond have no order. */
  n: number
  project_id: string
  thread_id: string
  channel_id: string
  /** `inbound` from the client or `outbound` to the client. */
  direction: string
  /** The address of the sender. */
  from_handle: string | null
  /** The name that the sender gave. */
  from_name: string | null
  body: string
  subject: string | null
  /** The task that the message started, or that wrote it. */
  task_id: string | null
  /** The id that the provider gave to the message. */
  external_id: string | null
  /** JSON list of the addresses that an e-mail was sent to; null for a message in the thread itself. */
  recipients: JsonText | null
  /** The member or key that wrote an outbound message; null: an agent. */
  author_kind: string | null
  /** The id of the member or key that wrote an outbound message. */
  author_id: string | null
  /** JSON: what the adapter of the channel needs to answer the message, such as the ids of the provider. */
  address: JsonText | null
  /** How the message left the service; null: it did not, and is shown in the portal only. */
  delivery: 'sending' | 'sent' | 'failed' | 'unknown' | null
  /** Why the message was not delivered. */
  delivery_error: string | null
  /** 1: an automatic reply or a bounce, which starts no task and is never answered. */
  is_automatic: Flag
  /** JSON: whether the sender of a mail is proved (SPF, DKIM, DMARC), or the address in `sent_by`; null: the channel does not say. */
  verdict: JsonText | null
  /** 1: nothing proves that the client wrote the message, so it answers no question. */
  is_unverified: Flag
  /** The address in From, if the mail names its sender in Reply-To; null: the sender sent it. */
  sent_by: string | null
  /** 1: a message of the client that has started no task, and waits until a person answers, starts or dismisses it. */
  is_waiting: Flag
  created_at: IsoTime
}

/** A piece of knowledge that the agents of a wedge get. */
export interface KnowledgeRow {
  id: string
  project_id: string
  wedge: string
  name: string
  content: string
  /** `note`, `fact`, `correction`, `feedback`, `answer` or `seed`. */
  kind: string
  /** Where it comes from. */
  source: string | null
  /** What the project keeps about it. */
  metadata: JsonText
  /** The task from which it was learned. */
  task_id: string | null
  version: number
  created_at: IsoTime
  updated_at: IsoTime
}

/** An earlier or current version of a piece of knowledge. */
export interface KnowledgeRevisionRow {
  knowledge_id: string
  project_id: string
  version: number
  name: string
  content: string
  /** `note`, `fact`, `correction`, `feedback`, `answer` or `seed`. */
  kind: string
  /** What wrote the version: a member, a key, a task or the system. */
  by_kind: string
  /** The id of the member or key that wrote the version. */
  by_id: string
  /** When the version was written. */
  at: IsoTime
}

/** A question to the team about its business whose answer becomes knowledge. */
export interface IntakeQuestionRow {
  id: string
  project_id: string
  wedge: string
  /** For a question of the manifest, its id there; otherwise a hash of the text, so that the same question is one row. */
  question_id: string
  question: string
  /** Why the answer is needed. */
  why: string | null
  /** `seed` for a question of the manifest, `gap` for one of an agent. */
  kind: string
  status: string
  answer: string | null
  /** The knowledge that the answer became. */
  knowledge_id: string | null
  /** The task whose agent asked first. */
  task_id: string | null
  /** How often agents have asked. */
  asked: number
  created_at: IsoTime
  updated_at: IsoTime
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
  /** A hash of project and collection (`hashCollection`). */
  collection_hash: string
  wedge: string
  /** The path of the field in the value. */
  path: string
  /** Type and value as text that sorts by its bytes like the values. */
  sort_key: string
}

/** The column of `record_columns` that holds a path of a collection. */
export interface RecordPathRow {
  /** A hash of project and collection. */
  collection_hash: string
  /** The path of the field in the values. */
  path: string
  /** The number of the column. */
  n: number
}

/**
 * The fields of a record side by side, as far as their paths have a column. A filter that many records match reads one
 * row for each record here.
 */
export interface RecordColumnsRow {
  /** A hash of project and collection. */
  collection_hash: string
  /** The record. */
  record_id: string
  wedge: string
  /** A sort key; null if the record has no such field. */
  [column: `c${number}`]: string | null
}

/** A recurring task. */
export interface ScheduleRow {
  id: string
  project_id: string
  name: string
  wedge: string
  task_type: string
  /** How often the task runs. */
  cadence: JsonText
  /** The input of the tasks. */
  input: JsonText
  /** 1: the schedule is on. */
  enabled: Flag
  client_id: string | null
  case_id: string | null
  /** The blueprint that created the schedule. */
  blueprint: string | null
  /** The time from which intervals are counted. */
  anchor_at: IsoTime
  /** When the next task is due. */
  next_run_at: IsoTime | null
  /** When the last task was created. */
  last_run_at: IsoTime | null
  /** The last task. */
  last_task_id: string | null
  last_error: string | null
  created_at: IsoTime
  updated_at: IsoTime
}

/** One row for each due time that fired: the key makes it fire once across all replicas. */
export interface ScheduleSlotRow {
  schedule_id: string
  /** The due time. */
  slot: IsoTime
  /** The task that was created; null: it could not be. */
  task_id: string | null
}

/** A blueprint that a project has installed. */
export interface BlueprintInstallRow {
  project_id: string
  /** The name of the blueprint. */
  blueprint: string
  /** 1: the blueprint has been activated. */
  active: Flag
  created_at: IsoTime
  activated_at: IsoTime | null
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

/** A block of 128 entries of a chain that has an action or a subject. */
export interface AuditBlockRow {
  /** The id of a project or an organisation. */
  chain: string
  /** `action task.created` or `subject task_…`. */
  term: string
  /** The number of the block. */
  block: number
}

/** How far the entries of a chain are in `audit_blocks`. */
export interface AuditIndexRow {
  /** The id of a project or an organisation. */
  chain: string
  /** The number of the first block that is not in `audit_blocks` yet. */
  next_block: number
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

/** How far the tasks or approvals of a project are summed up: every row up to this id is in the sums or in `report_open`. */
export interface ReportMarkRow {
  project_id: string
  /** What is summed up: tasks or approvals. */
  source: string
  /** The id up to which rows are summed up. */
  folded_to: string
}

/** Rows before the mark that were not final when it passed them. */
export interface ReportOpenRow {
  project_id: string
  /** What is summed up: tasks or approvals. */
  source: string
  id: string
}

/** Finished tasks and their cost, summed up by day, wedge and status. */
export interface ReportRunRow {
  project_id: string
  /** The UTC day on which the tasks were created. */
  day: Day
  wedge: string
  status: string
  /** The number of tasks. */
  runs: number
  /** What the models charged, in millionths of a US dollar. */
  cost_micros: number
}

/** Finished tasks and their cost, summed up by period and client. */
export interface ReportClientRow {
  project_id: string
  /** A day, a month or a year. Each day is also summed up in its month and its year, so that long periods are few rows. */
  span: string
  client_id: string
  /** The number of tasks. */
  runs: number
  /** What the models charged, in millionths of a US dollar. */
  cost_micros: number
}

/** Decided approvals, counted by period, status and waiting time. */
export interface ReportApprovalRow {
  project_id: string
  /** A day, a month or a year. */
  span: string
  status: string
  /** About how long a person took to decide; -1 if no person decided. */
  wait_ms: number
  /** The number of approvals. */
  n: number
}

/** An address to which the service sends events. */
export interface WebhookRow {
  id: string
  project_id: string
  url: string
  /** JSON list of event types. */
  events: JsonText
  /** 1: events are sent. */
  enabled: Flag
  /** Until when the secret before the last rotation is also used to sign. */
  previous_until: IsoTime | null
  created_at: IsoTime
  updated_at: IsoTime
}

/** An event to be delivered to one webhook. The payload is built from the subject, so it is not stored. */
export interface WebhookDeliveryRow {
  webhook_id: string
  /** The id of the event, by which a receiver detects duplicates; the same for all webhooks. */
  id: string
  project_id: string
  /** The type of the event. */
  event: string
  /** The id of what the event is about. */
  subject: string
  status: string
  attempts: number
  /** When the next attempt is due; during an attempt, when the sender counts as crashed. */
  next_at: IsoTime | null
  /** The HTTP status of the last response; null: there was none. */
  last_status: number | null
  last_error: string | null
  created_at: IsoTime
  delivered_at: IsoTime | null
}

/** A program that registered itself as an OAuth client of `/mcp`. */
export interface McpAppRow {
  id: string
  name: string
  /** A JSON list. */
  redirect_uris: JsonText
  created_at: IsoTime
  /** When a member last gave it access. */
  last_used_at: IsoTime | null
}

/** The access to one project that a member gave to an app, with a role of at most the member's own. */
export interface McpAuthorisationRow {
  id: string
  project_id: string
  member_id: string
  app_id: string
  app_name: string
  role: string
  created_at: IsoTime
  /** When the app last got a token. */
  last_used_at: IsoTime | null
}

/** An authorisation code of an app that calls `/mcp`. */
export interface McpCodeRow {
  /** The hash of the code. */
  hash: SecretText
  authorisation_id: string
  /** Where the browser was sent with the code. */
  redirect_uri: string
  /** What the app must prove when it exchanges the code. */
  code_challenge: SecretText
  expires_at: IsoTime
  used_at: IsoTime | null
}

/** An access or refresh token of an app that calls `/mcp`. */
export interface McpTokenRow {
  /** The hash of the token. */
  hash: SecretText
  authorisation_id: string
  /** `access` or `refresh`. */
  kind: 'access' | 'refresh'
  expires_at: IsoTime
  /** When a refresh token was exchanged for its successor. */
  used_at: IsoTime | null
}

export interface Tables {
  organisations: OrganisationRow
  projects: ProjectRow
  storage_usage: StorageUsageRow
  members: MemberRow
  keys: KeyRow
  sessions: SessionRow
  login_failures: RateWindowRow
  signed_tokens: SignedTokenRow
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
  connection_files: ConnectionFilesRow
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
