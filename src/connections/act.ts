import type { Json } from '../base/json.ts'
import { notFound, Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { untilBack } from '../store/away.ts'
import { EgressError } from './egress.ts'
import type { Reply } from './executors/executor.ts'
import { executorFor, requireExecutor } from './executors/table.ts'
import { healthError, noteHealth } from './health.ts'
import { maskOf } from './mask.ts'
import { type Connection, findConnection } from './rows.ts'
import { openSecret } from './secrets.ts'

export interface ActionAsk {
  capability: string
  payload: Json
  /** The approval's id. */
  idempotencyKey: string
  over: Over
}

/** Whether the run for which it is done is over. */
type Over = { readonly aborted: boolean }

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

/** The payload as it will be sent: whoever decides sees what is filled in for the agent too. */
export async function wholePayload(ctx: Ctx, granted: Granted, payload: Json, over: Over): Promise<Json> {
  const connection = await connectionNow(ctx, granted, over)
  return executorFor(ctx, connection.kind)?.whole?.(connection, payload) ?? payload
}

/** Does the action with the connection as it is now. Never throws, however it goes: somebody has to write down how. */
export async function act(ctx: Ctx, granted: Granted, ask: ActionAsk): Promise<ActionResult> {
  const way: Way = { connection: null, left: false }
  const result = await attempt(ctx, granted, ask, way).catch((error: unknown) =>
    !way.left && ask.over.aborted ? WITHDRAWN : failed(ctx, error, way),
  )
  if (way.connection && result !== WITHDRAWN) {
    await noteHealth(ctx, way.connection, healthError(result.status, result.error))
  }
  return result
}

type Granted = Pick<Connection, 'id'>

/** How far an action has come. */
interface Way {
  connection: Connection | null
  /** From here on the other side may have seen it. */
  left: boolean
}

async function attempt(ctx: Ctx, granted: Granted, { over, ...ask }: ActionAsk, way: Way): Promise<ActionResult> {
  const connection = await connectionNow(ctx, granted, over)
  way.connection = connection
  const send = requireExecutor(ctx, connection.kind, 'act')
  const secret = await untilBack(() => openSecret(ctx, connection), over)
  // Whoever cancelled meanwhile may have started it again.
  if (over.aborted) return WITHDRAWN
  way.left = true
  const reply = await send(ctx, { connection, secret, ...ask })
  const mask = maskOf([secret])
  return judged({ ...reply, body: mask.json(reply.body), error: reply.error && mask.text(reply.error) })
}

const NOTHING = { ok: false, status: null, result: null }

const WITHDRAWN: ActionResult = {
  ...NOTHING,
  outcome: 'failed',
  error: 'withdrawn: the run was over before anything left',
}

/** Nothing has left yet, and it is decided that it shall: a store that is away is waited for, as long as the run lives. */
async function connectionNow(ctx: Ctx, granted: Granted, over: Over): Promise<Connection> {
  const connection = await untilBack(() => findConnection(ctx.db, granted.id), over)
  // Deleted since the run began: the grant does not outlive it.
  if (!connection) throw notFound('connection')
  return connection
}

function judged(reply: Reply): ActionResult {
  const { ok, status, body, error, unclear } = reply
  const outcome = ok ? 'ok' : unclear ? 'unknown' : refusedOrUnknown(status)
  return { outcome, ok, status, result: body, error }
}

/**
 * A gateway speaks for someone it could not hear, and 303 sends the caller to see how it went: they say nothing about the
 * effect.
 */
const UNKNOWN = new Set([303, 502, 504, 520, 521, 522, 523, 524, 598, 599])
const refusedOrUnknown = (status: number) => (UNKNOWN.has(status) ? 'unknown' : 'failed')

function failed(ctx: Ctx, error: unknown, { left }: Way): ActionResult {
  if (error instanceof EgressError) return failedOnTheWay(error)
  if (error instanceof Problem || error instanceof SecretUnavailable) {
    return { ...NOTHING, outcome: 'failed', error: error.message }
  }
  ctx.world.log.error({ err: error }, 'an action failed by a fault of the service')
  return { ...NOTHING, outcome: left ? 'unknown' : 'failed', error: 'internal error' }
}

function failedOnTheWay({ kind, sent, status, message }: EgressError): ActionResult {
  // The answer came, only its body is of no use: its status still tells how the action ended.
  if (status !== null && (kind === 'too_large' || kind === 'unreadable')) {
    const ok = status >= 200 && status < 300
    return { outcome: ok ? 'ok' : refusedOrUnknown(status), ok, status, result: null, error: ok ? null : message }
  }
  return { outcome: sent ? 'unknown' : 'failed', ok: false, status, result: null, error: message }
}
