import type { Json } from '../../base/json.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import type { Connection } from '../rows.ts'

/** One use of a connection, with its secret opened for this call only. */
export interface Use {
  connection: Connection
  secret: string | null
  capability: string
}

export interface Action extends Use {
  payload: Json
  /** Goes upstream, so that the other side can tell a repetition. */
  idempotencyKey: string
}

export interface Read extends Use {
  path: string | null
  arguments: Json
}

/** What the other side said. `error` tells why it is not ok. */
export interface Reply {
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
export interface Executor {
  /** The payload with what the connection adds to it. */
  whole?(connection: Connection, payload: Json): Json
  act?(ctx: Ctx, action: Action): Promise<Reply>
  read?(ctx: Ctx, read: Read): Promise<Reply>
}
