import type { Json } from '../../platform/base/json.ts'
import { notFound, Problem } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { loadPayloadFiles } from '../../work/files/payload-files.ts'
import { retryUntilAvailable } from '../../platform/store/errors.ts'
import { createSecretMask } from '../../identity/vault/mask-secrets.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import type { ActionCall, AskPerson, UpstreamResponse } from '../calls/executor.ts'
import { findExecutor, requireExecutor } from '../executors/executor-table.ts'
import { checkToolCall } from './connection-tools.ts'
import { describeUpstreamFailure } from '../calls/failure-reason.ts'
import { recordConnectionHealth, toHealthError } from '../connection/health.ts'
import { type Connection, findConnection } from '../connection/rows.ts'
import type { ConnectionTool } from '../connection/tool.ts'

export interface ActionRequest {
  capability: string
  payload: Json
  /** The approval's id. */
  idempotencyKey: string
  runSignal: RunSignal
  clientId?: string | null
  askPerson?: AskPerson | undefined
  /** Sends the action instead of the connection's own executor, such as the reply of a channel. */
  send?: ActionSender | undefined
}

/** Sends one action through the connection. Throws like an executor. */
export type ActionSender = (
  ctx: Ctx,
  call: Pick<ActionCall, 'connection' | 'secret' | 'payload' | 'idempotencyKey'>,
) => Promise<UpstreamResponse>

/** Aborted once the run that asked for the action has ended. */
type RunSignal = { readonly aborted: boolean }

/**
 * `failed` is certain: nothing was sent, or the server refused. `unknown` means that the request was sent and its result
 * is not known; the action may have happened, so it must not be repeated without a check.
 */
export interface ActionResult {
  outcome: 'ok' | 'failed' | 'unknown'
  ok: boolean
  status: number | null
  result: Json
  error: string | null
}

/**
 * The tool that the action uses, if it has a name, and the payload as it will be sent, so that the person who approves
 * also sees what the connection adds. Throws a 400 for an action that could not be sent.
 */
export async function prepareAction(
  ctx: Ctx,
  granted: GrantedConnection,
  { capability, payload, runSignal }: Pick<ActionRequest, 'capability' | 'payload' | 'runSignal'>,
): Promise<{ payload: Json; tool: ConnectionTool | null }> {
  const connection = await readConnection(ctx, granted, runSignal)
  const completed = findExecutor(connection.kind)?.completePayload?.(connection, payload) ?? payload
  const tool = await checkToolCall(ctx, connection, { capability, use: 'act', arguments: completed })
  return { payload: completed, tool }
}

/** Sends the action through the connection as stored now. Never throws: the caller must record every outcome. */
export async function sendAction(ctx: Ctx, granted: GrantedConnection, request: ActionRequest): Promise<ActionResult> {
  const progress: ActionProgress = { connection: null, mayBeSent: false }
  const result = await attemptAction(ctx, granted, request, progress).catch((error: unknown) => {
    // The service itself refused, which says nothing about the connection.
    if (error instanceof Problem) progress.connection = null
    return !progress.mayBeSent && request.runSignal.aborted ? WITHDRAWN_RESULT : toFailedResult(ctx, error, progress)
  })
  if (progress.connection && result !== WITHDRAWN_RESULT) {
    await recordConnectionHealth(ctx, progress.connection, toHealthError(result.status, result.error))
  }
  return result
}

type GrantedConnection = Pick<Connection, 'id'>

interface ActionProgress {
  connection: Connection | null
  /** From here on the server may have seen the request. */
  mayBeSent: boolean
}

async function attemptAction(
  ctx: Ctx,
  granted: GrantedConnection,
  { runSignal, ...action }: ActionRequest,
  progress: ActionProgress,
): Promise<ActionResult> {
  const connection = await readConnection(ctx, granted, runSignal)
  progress.connection = connection
  const { send = await findSender(ctx, connection, action, runSignal), ...call } = action
  const secret = await retryUntilAvailable(() => openSecret(ctx, connection), runSignal)
  // The task may have been cancelled and retried meanwhile; sending now could do the action twice.
  if (runSignal.aborted) return WITHDRAWN_RESULT
  progress.mayBeSent = true
  const response = await send(ctx, { connection, secret, ...call })
  const mask = createSecretMask([secret, ...(response.secrets ?? [])])
  return toActionResult({ ...response, body: mask.json(response.body), error: describeUpstreamFailure(response, mask) })
}

/** The executor of the connection. The tool may have been changed or switched off while the approval waited. */
async function findSender(
  ctx: Ctx,
  connection: Connection,
  { capability, payload, clientId = null, askPerson }: Omit<ActionRequest, 'runSignal' | 'send'>,
  runSignal: RunSignal,
): Promise<ActionSender> {
  const act = requireExecutor(ctx, connection.kind, 'act')
  await checkToolCall(ctx, connection, { capability, use: 'act', arguments: payload })
  const files = await retryUntilAvailable(() => loadPayloadFiles(ctx, connection.project_id, payload), runSignal)
  return (context, call) => act(context, { ...call, files, capability, clientId, askPerson })
}

const NO_RESPONSE = { ok: false, status: null, result: null }

const WITHDRAWN_RESULT: ActionResult = {
  ...NO_RESPONSE,
  outcome: 'failed',
  error: 'withdrawn: the run ended before the action was sent',
}

/** The result of an action that calls no other system. */
export const DONE_WITHOUT_CALL: ActionResult = { outcome: 'ok', ok: true, status: null, result: null, error: null }

/** The action was not sent, because its run ended first. */
export const isWithdrawn = ({ error }: Pick<ActionResult, 'error'>): boolean => error === WITHDRAWN_RESULT.error

/** The action is already approved, so an unavailable store is retried for as long as the run lasts. */
async function readConnection(ctx: Ctx, granted: GrantedConnection, runSignal: RunSignal): Promise<Connection> {
  const connection = await retryUntilAvailable(() => findConnection(ctx.db, granted.id), runSignal)
  // A grant ends when its connection is deleted.
  if (!connection) throw notFound('connection')
  return connection
}

function toActionResult({ ok, status, body, error, unclear }: UpstreamResponse): ActionResult {
  const outcome = ok ? 'ok' : unclear ? 'unknown' : outcomeOfStatus(status)
  return { outcome, ok, status, result: body, error }
}

/** Gateway errors and 303 do not say whether the server behind them performed the action. */
const UNKNOWN_OUTCOME_STATUSES = new Set([303, 502, 504, 520, 521, 522, 523, 524, 598, 599])
const outcomeOfStatus = (status: number) => (UNKNOWN_OUTCOME_STATUSES.has(status) ? 'unknown' : 'failed')

function toFailedResult(ctx: Ctx, error: unknown, { mayBeSent }: ActionProgress): ActionResult {
  if (error instanceof EgressError) return toEgressFailure(error)
  if (error instanceof Problem || error instanceof SecretUnavailable) {
    return { ...NO_RESPONSE, outcome: 'failed', error: error.message }
  }
  ctx.world.log.error({ err: error }, 'action failed with an internal error')
  return { ...NO_RESPONSE, outcome: mayBeSent ? 'unknown' : 'failed', error: 'internal error' }
}

function toEgressFailure({ kind, sent, status, message }: EgressError): ActionResult {
  // Only the body is unusable: the status still says whether the action succeeded.
  if (status !== null && (kind === 'too_large' || kind === 'unreadable')) {
    const ok = status >= 200 && status < 300
    return { outcome: ok ? 'ok' : outcomeOfStatus(status), ok, status, result: null, error: ok ? null : message }
  }
  return { outcome: sent ? 'unknown' : 'failed', ok: false, status, result: null, error: message }
}
