import type { Json, JsonObject } from '../../platform/base/json.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { PayloadFiles } from '../../work/files/payload-files.ts'
import type { Connection } from '../connection/rows.ts'
import type { ConnectionTool } from '../connection/tool.ts'

/**
 * What a kind of connection can do. To add a kind, write `executors/<kind>.ts` that exports `<kind>Executor`, and add
 * the kind to `executor-table.ts`: every route, check and blueprint finds it there.
 *
 * `act` and `read` throw a `Problem` when they refuse before sending, and an `EgressError` when the call failed.
 */
export interface ConnectionExecutor {
  /** The config keys of which at least one must be set. */
  requiredConfig: readonly [string, ...string[]]
  /** The config keys that are missing, where `requiredConfig` does not say it all. */
  findMissingConfig?(config: JsonObject): string[]
  /** What the connection needs besides its config. */
  credential: 'secret' | 'optional_secret' | 'broker_account'
  /** Whether the config needs no secret, although the kind does. */
  needsNoSecret?(connection: Pick<Connection, 'config'>): boolean
  /** False when the deployment lacks a setting that this kind needs. */
  isConfigured?(ctx: Ctx): boolean
  /** Adds what the connection's config contributes, so that the person who approves sees the whole payload. */
  completePayload?(connection: Connection, payload: Json): Json
  /** Throws a 400 that names the field if the config of a new or changed connection cannot work. */
  checkConfig?(config: JsonObject): void
  /** What the connection offers by name; null or absent: its name and every capability below it. */
  listTools?(ctx: Ctx, connection: Connection): Promise<ConnectionTool[] | null>
  /** Throws a 400 for arguments that match the schema of the tool and still cannot be sent. */
  checkArguments?(connection: Connection, capability: string, args: Json): void
  act?(ctx: Ctx, action: ActionCall): Promise<UpstreamResponse>
  read?(ctx: Ctx, read: ReadCall): Promise<UpstreamResponse>
  /** One call without side effects that shows whether address and credential work. */
  test(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult>
}

/** One use of a connection. The decrypted secret exists for this call only. */
export interface ConnectionUse {
  connection: Connection
  secret: string | null
  capability: string
  /** Of the task that uses it; absent: none. */
  clientId?: string | null
  askPerson?: AskPerson | undefined
}

/**
 * Asks a person of the team during a call, because the server wants to know something; null without an answer. It throws
 * when the run ends. `number` counts the questions of the call. `withdrawn` is aborted when the server does not wait for the
 * answer any more.
 */
export type AskPerson = (question: ServerQuestion) => Promise<Json>

export interface ServerQuestion {
  question: string
  schema: JsonObject
  number: number
  withdrawn: AbortSignal
}

export interface ActionCall extends ConnectionUse {
  payload: Json
  /** The content of the files that the payload refers to. */
  files: PayloadFiles
  /** Sent along, so that the server can recognise a repeated request. */
  idempotencyKey: string
}

export interface ReadCall extends ConnectionUse {
  path: string | null
  arguments: Json
}

export interface UpstreamResponse {
  ok: boolean
  status: number
  contentType: string
  body: Json
  /** Why it is not ok. */
  error: string | null
  /** The response does not say whether the action succeeded. */
  unclear?: boolean
  /** Secrets of the call beside the connection's own, such as an access token: masked like it. */
  secrets?: readonly string[]
}

export interface ConnectionTestResult {
  ok: boolean
  /** What was called, without the query, which may have the secret. */
  checked: string
  status: number | null
  error: string | null
}
