import type { Flag, IsoTime, JsonText } from './column-types.ts'

export interface ApprovalTables {
  approvals: ApprovalRow
  approval_votes: ApprovalVoteRow
  approval_comments: ApprovalCommentRow
  effects: EffectRow
  policy_counters: PolicyCounterRow
  wedge_policies: WedgePolicyRow
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
  /** When people are next notified: of the request, or by a step of `escalate`; null: never. */
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

/** The effect ledger: one row for each external effect, inserted before the call is sent. */
export interface EffectRow {
  /** The id of the approval; of the message for a member's own answer in a thread; of the mail for one of the service. */
  id: string
  project_id: string
  /** Null for a member's own answer in a thread, and for a mail of the service. */
  task_id: string | null
  /** The message of a thread that is sent; null: the action sends none. */
  message_id: string | null
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
