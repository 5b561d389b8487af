import type { IsoTime, JsonText, SecretText } from './column-types.ts'

export interface ConnectionTables {
  connections: ConnectionRow
  connection_tools: ConnectionToolRow
  connection_files: ConnectionFilesRow
  oauth_flows: OauthFlowRow
  token_locks: TokenLockRow
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
