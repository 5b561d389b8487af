import type { Json } from '../base/json.ts'
import { badRequest, notFound, Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { EgressError, type EgressFailure } from './egress.ts'
import type { Reply } from './executors/executor.ts'
import { isRedirect } from './executors/http.ts'
import { requireExecutor } from './executors/table.ts'
import { healthError, noteHealth } from './health.ts'
import { type Mask, maskOf } from './mask.ts'
import { type Connection, findConnection } from './rows.ts'
import { openSecret } from './secrets.ts'

export interface ReadAsk {
  capability: string
  /** Relative to the connection's base; null for broker tools. */
  path: string | null
  arguments: Json
}

export interface ReadResult {
  ok: boolean
  status: number
  content_type: string
  body: Json
}

/** Looks at something through the connection, which changes nothing. What goes wrong is a `Problem`. */
export async function readThrough(ctx: Ctx, granted: Pick<Connection, 'id'>, ask: ReadAsk): Promise<ReadResult> {
  const connection = await findConnection(ctx.db, granted.id)
  if (!connection) throw notFound('connection')
  const read = requireExecutor(ctx, connection.kind, 'read')
  try {
    const secret = await openSecret(ctx, connection)
    const reply = await read(ctx, { connection, secret, ...ask })
    if (isRedirect(reply.status)) throw badRequest('upstream answered with a redirect, which is not followed')
    const mask = maskOf([secret])
    await noteHealth(ctx, connection, healthError(reply.status, reply.error && mask.text(reply.error)))
    return shown(reply, mask)
  } catch (error) {
    const problem = problemOf(error)
    if (!(error instanceof Problem)) await noteHealth(ctx, connection, problem.message)
    throw problem
  }
}

function shown({ ok, status, contentType, body }: Reply, mask: Mask): ReadResult {
  return { ok, status, content_type: mask.text(contentType), body: mask.json(body) }
}

const STATUS: Record<EgressFailure, number> = {
  blocked: 400,
  too_large: 400,
  timeout: 504,
  unreachable: 502,
  unreadable: 502,
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof EgressError) return new Problem(STATUS[error.kind], error.message)
  if (error instanceof SecretUnavailable) return badRequest(error.message)
  throw error
}
