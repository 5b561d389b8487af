import type { Json } from '../../base/json.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import type { Connection } from '../rows.ts'

/** One use of a connection, with its secret opened for this call only. */
export interface ConnectionUse {
  connection: Connection
  secret: string | null
  capability: string
}

export interface ActionCall extends ConnectionUse {
  payload: Json
  /** Goes upstream, so that the other side can tell a repetition. */
  idempotencyKey: string
}

export interface ReadCall extends ConnectionUse {
  path: string | null
  arguments: Json
}

/** What the other side said. `error` tells why it is not ok. */
export interface UpstreamResponse {
  ok: boolean
  status: number
  contentType: string
  body: Json
  error: string | null
  /** The answer came and does not tell how it ended. */
  unclear?: boolean
}

/**
 * How a kind of connection acts and reads. A refusal before anything was sent is thrown as a `Problem`, a call that
 * failed on the way as an `EgressError`.
 */
export interface ConnectionExecutor {
  /** The payload with what the connection adds to it. */
  completePayload?(connection: Connection, payload: Json): Json
  act?(ctx: Ctx, action: ActionCall): Promise<UpstreamResponse>
  read?(ctx: Ctx, read: ReadCall): Promise<UpstreamResponse>
}
