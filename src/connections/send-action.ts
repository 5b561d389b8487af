import type { Json } from '../base/json.ts'
import { notFound, Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { retryUntilAvailable } from '../store/errors.ts'
import { EgressError } from '../egress/http-client.ts'
import type { UpstreamResponse } from './executors/executor.ts'
import { findExecutor, requireExecutor } from './executors/executor-table.ts'
import { toHealthError, recordConnectionHealth } from './health.ts'
import { createSecretMask } from '../vault/mask-secrets.ts'
import { type Connection, findConnection } from './rows.ts'
import { openSecret } from '../vault/secrets.ts'

export interface ActionRequest {
  capability: string
  payload: Json
  /** The approval's id. */
  idempotencyKey: string
  runSignal: RunSignal
}

/** Whether the run for which it is done is over. */
type RunSignal = { readonly aborted: boolean }

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
export async function completePayload(
  ctx: Ctx,
  granted: GrantedConnection,
  payload: Json,
  over: RunSignal,
): Promise<Json> {
  const connection = await readConnection(ctx, granted, over)
  return findExecutor(ctx, connection.kind)?.completePayload?.(connection, payload) ?? payload
}

/** Does the action with the connection as it is now. Never throws, however it goes: somebody has to write down how. */
export async function sendAction(ctx: Ctx, granted: GrantedConnection, ask: ActionRequest): Promise<ActionResult> {
  const way: ActionProgress = { connection: null, left: false }
  const result = await attemptAction(ctx, granted, ask, way).catch((error: unknown) =>
    !way.left && ask.runSignal.aborted ? WITHDRAWN_RESULT : toFailedResult(ctx, error, way),
  )
  if (way.connection && result !== WITHDRAWN_RESULT) {
    await recordConnectionHealth(ctx, way.connection, toHealthError(result.status, result.error))
  }
  return result
}

type GrantedConnection = Pick<Connection, 'id'>

/** How far an action has come. */
interface ActionProgress {
  connection: Connection | null
  /** From here on the other side may have seen it. */
  left: boolean
}

async function attemptAction(
  ctx: Ctx,
  granted: GrantedConnection,
  { runSignal: over, ...ask }: ActionRequest,
  way: ActionProgress,
): Promise<ActionResult> {
  const connection = await readConnection(ctx, granted, over)
  way.connection = connection
  const send = requireExecutor(ctx, connection.kind, 'act')
  const secret = await retryUntilAvailable(() => openSecret(ctx, connection), over)
  // Whoever cancelled meanwhile may have started it again.
  if (over.aborted) return WITHDRAWN_RESULT
  way.left = true
  const reply = await send(ctx, { connection, secret, ...ask })
  const mask = createSecretMask([secret])
  return toActionResult({ ...reply, body: mask.json(reply.body), error: reply.error && mask.text(reply.error) })
}

const NO_RESPONSE = { ok: false, status: null, result: null }

const WITHDRAWN_RESULT: ActionResult = {
  ...NO_RESPONSE,
  outcome: 'failed',
  error: 'withdrawn: the run was over before anything left',
}

/** Nothing has left yet, and it is decided that it shall: a store that is away is waited for, as long as the run lives. */
async function readConnection(ctx: Ctx, granted: GrantedConnection, over: RunSignal): Promise<Connection> {
  const connection = await retryUntilAvailable(() => findConnection(ctx.db, granted.id), over)
  // Deleted since the run began: the grant does not outlive it.
  if (!connection) throw notFound('connection')
  return connection
}

function toActionResult(reply: UpstreamResponse): ActionResult {
  const { ok, status, body, error, unclear } = reply
  const outcome = ok ? 'ok' : unclear ? 'unknown' : outcomeOfStatus(status)
  return { outcome, ok, status, result: body, error }
}

/**
 * A gateway speaks for someone it could not hear, and 303 sends the caller to see how it went: they say nothing about the
 * effect.
 */
const UNKNOWN_OUTCOME_STATUSES = new Set([303, 502, 504, 520, 521, 522, 523, 524, 598, 599])
const outcomeOfStatus = (status: number) => (UNKNOWN_OUTCOME_STATUSES.has(status) ? 'unknown' : 'failed')

function toFailedResult(ctx: Ctx, error: unknown, { left }: ActionProgress): ActionResult {
  if (error instanceof EgressError) return toEgressFailure(error)
  if (error instanceof Problem || error instanceof SecretUnavailable) {
    return { ...NO_RESPONSE, outcome: 'failed', error: error.message }
  }
  ctx.world.log.error({ err: error }, 'an action failed by a fault of the service')
  return { ...NO_RESPONSE, outcome: left ? 'unknown' : 'failed', error: 'internal error' }
}

function toEgressFailure({ kind, sent, status, message }: EgressError): ActionResult {
  // The answer came, only its body is of no use: its status still tells how the action ended.
  if (status !== null && (kind === 'too_large' || kind === 'unreadable')) {
    const ok = status >= 200 && status < 300
    return { outcome: ok ? 'ok' : outcomeOfStatus(status), ok, status, result: null, error: ok ? null : message }
  }
  return { outcome: sent ? 'unknown' : 'failed', ok: false, status, result: null, error: message }
}
