import type { Json } from '../../platform/base/json.ts'
import { badRequest, notFound, Problem } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { EgressError, type EgressErrorKind } from '../../platform/egress/http-client.ts'
import { createSecretMask, type SecretMask } from '../../identity/vault/mask-secrets.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import { TokenRequestFailed } from '../auth/token-endpoint.ts'
import type { AskPerson, UpstreamResponse } from '../calls/executor.ts'
import { requireExecutor } from '../executors/executor-table.ts'
import { isRedirect } from '../calls/http-request.ts'
import { checkToolCall } from './connection-tools.ts'
import { describeUpstreamFailure } from '../calls/failure-reason.ts'
import { recordConnectionHealth, toHealthError } from '../connection/health.ts'
import { type Connection, findConnection } from '../connection/rows.ts'

export interface ConnectionReadRequest {
  capability: string
  /** Relative to the connection's base URL; null for broker tools. */
  path: string | null
  arguments: Json
  clientId?: string | null
  askPerson?: AskPerson | undefined
}

export interface ConnectionReadResult {
  ok: boolean
  status: number
  content_type: string
  body: Json
  /** Why it is not ok. */
  error?: string
}

/** Reads through the connection without side effects. Every failure is thrown as a `Problem`. */
export async function readThroughConnection(
  ctx: Ctx,
  granted: Pick<Connection, 'id'>,
  request: ConnectionReadRequest,
): Promise<ConnectionReadResult> {
  const connection = await findConnection(ctx.db, granted.id)
  if (!connection) throw notFound('connection')
  const read = requireExecutor(ctx, connection.kind, 'read')
  await checkToolCall(ctx, connection, { use: 'read', ...request })
  try {
    const secret = await openSecret(ctx, connection)
    const response = await read(ctx, { connection, secret, ...request })
    if (isRedirect(response.status)) throw badRequest('upstream answered with a redirect, which is not followed')
    const mask = createSecretMask([secret, ...(response.secrets ?? [])])
    const failure = describeUpstreamFailure(response, mask)
    await recordConnectionHealth(ctx, connection, toHealthError(response.status, failure))
    return { ...toReadResult(response, mask), ...(failure !== null && { error: failure }) }
  } catch (error) {
    const problem = toReadProblem(error)
    if (!(error instanceof Problem)) await recordConnectionHealth(ctx, connection, problem.message)
    throw problem
  }
}

function toReadResult({ ok, status, contentType, body }: UpstreamResponse, mask: SecretMask): ConnectionReadResult {
  return { ok, status, content_type: mask.text(contentType), body: mask.json(body) }
}

const STATUS_BY_FAILURE: Record<EgressErrorKind, number> = {
  blocked: 400,
  too_large: 400,
  timeout: 504,
  unreachable: 502,
  unreadable: 502,
}

function toReadProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof EgressError) return new Problem(STATUS_BY_FAILURE[error.kind], error.message)
  if (error instanceof TokenRequestFailed) return new Problem(502, error.message)
  if (error instanceof SecretUnavailable) return badRequest(error.message)
  throw error
}
