import type { IsoTime, SecretText } from './column-types.ts'

export interface ConversationTables {
  brands: BrandRow
  portal_links: PortalLinkRow
  client_sessions: ClientSessionRow
  notice_tokens: NoticeTokenRow
  notice_opt_outs: NoticeOptOutRow
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

/** A session of a client in the portal. */
export interface ClientSessionRow {
  /** The hash of the session token. */
  hash: SecretText
  project_id: string
  client_id: string
  created_at: IsoTime
  expires_at: IsoTime
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
