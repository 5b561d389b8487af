import type { Json } from '../base/json.ts'
import { notFound, Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { untilBack } from '../store/away.ts'
import { EgressError } from './egress.ts'
import type { Reply } from './executors/executor.ts'
import { requireExecutor } from './executors/table.ts'
import { healthError, noteHealth } from './health.ts'
import { maskOf } from './mask.ts'
import { type Connection, findConnection } from './rows.ts'
import { openSecret } from './secrets.ts'

export interface ActionAsk {
  capability: string
  payload: Json
  /** The approval's id. */
  idempotencyKey: string
}

/**
 * `failed` is certain: refused before anything left, or refused by the other side. `unknown` is everything that left
 * and whose end was not heard: the effect may have happened, so nobody may try again without looking.
 */
export interface ActionResult {
  outcome: 'ok' | 'failed' | 'unknown'
  ok: boolean
  status: number | null
  result: Json
  error: string | null
}

/** Does the action with the connection as it is now. Never throws for what went wrong outside. */
export async function act(ctx: Ctx, granted: Pick<Connection, 'id'>, ask: ActionAsk): Promise<ActionResult> {
  const connection = await untilBack(() => findConnection(ctx.db, granted.id))
  // Deleted since the run began: the grant does not outlive it.
  if (!connection) return failed(notFound('connection'))
  const result = await attempt(ctx, connection, ask)
  await noteHealth(ctx, connection, healthError(result.status, result.error))
  return result
}

async function attempt(ctx: Ctx, connection: Connection, ask: ActionAsk): Promise<ActionResult> {
  try {
    const send = requireExecutor(ctx, connection.kind, 'act')
    // Nothing has left yet, and it is decided that it shall: a store that is away is waited for.
    const secret = await untilBack(() => openSecret(ctx, connection))
    const reply = await send(ctx, { connection, secret, ...ask })
    const mask = maskOf([secret])
    return judged({ ...reply, body: mask.json(reply.body), error: reply.error && mask.text(reply.error) })
  } catch (error) {
    return failed(error)
  }
}

function judged(reply: Reply): ActionResult {
  const { ok, status, body, error, unclear } = reply
  const outcome = ok ? 'ok' : unclear ? 'unknown' : refusedOrUnknown(status)
  return { outcome, ok, status, result: body, error }
}

/** A gateway speaks for someone it could not hear: 502 and 504 say nothing about the effect. */
const refusedOrUnknown = (status: number) => (status === 502 || status === 504 ? 'unknown' : 'failed')

function failed(error: unknown): ActionResult {
  const nothing = { ok: false, status: null, result: null }
  if (error instanceof EgressError) return failedOnTheWay(error)
  if (error instanceof Problem || error instanceof SecretUnavailable) {
    return { ...nothing, outcome: 'failed', error: error.message }
  }
  throw error
}

function failedOnTheWay({ kind, sent, status, message }: EgressError): ActionResult {
  // The answer came, only its body is of no use: its status still tells how the action ended.
  if (status !== null && (kind === 'too_large' || kind === 'unreadable')) {
    const ok = status >= 200 && status < 300
    return { outcome: ok ? 'ok' : refusedOrUnknown(status), ok, status, result: null, error: ok ? null : message }
  }
  return { outcome: sent ? 'unknown' : 'failed', ok: false, status, result: null, error: message }
}
