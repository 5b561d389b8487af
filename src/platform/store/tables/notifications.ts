import type { Flag, IsoTime, JsonText, SecretText } from './column-types.ts'

export interface NotificationTables {
  notifiers: NotifierRow
  notification_settings: NotificationSettingsRow
  notification_links: NotificationLinkRow
  notification_codes: NotificationCodeRow
  notification_messages: NotificationMessageRow
  decision_links: DecisionLinkRow
}

/** The service through which a project notifies its members of approvals: one of each kind. */
export interface NotifierRow {
  id: string
  project_id: string
  /** The service: `slack`, `telegram` or `mail`. */
  kind: 'slack' | 'telegram' | 'mail'
  connection_id: string
  created_at: IsoTime
}

/** Which requests a project, or one of its members, wants notifications of, when and where. */
export interface NotificationSettingsRow {
  project_id: string
  /** Empty for the settings of the project. */
  member_id: string
  /** Which notifications are sent, when and where. */
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
