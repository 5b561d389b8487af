import type { IsoTime, JsonText, SecretText } from './column-types.ts'

export interface IdentityTables {
  organisations: OrganisationRow
  projects: ProjectRow
  storage_usage: StorageUsageRow
  members: MemberRow
  keys: KeyRow
  sessions: SessionRow
  login_failures: RateWindowRow
  minute_counts: MinuteCountRow
  vault: VaultRow
  mcp_apps: McpAppRow
  mcp_authorisations: McpAuthorisationRow
  mcp_codes: McpCodeRow
  mcp_tokens: McpTokenRow
}

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

/** What a project created, or a client wrote, in the last minute. */
export interface MinuteCountRow {
  /** The id of the project or of the client. */
  subject: string
  /** JSON: for each second, the time of the newest creation in milliseconds since 1970, and how many there were. */
  seconds: string
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
