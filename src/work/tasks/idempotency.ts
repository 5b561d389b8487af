import { hash } from 'node:crypto'
import { badRequest, conflict } from '../../platform/base/problem.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import { findIdempotencyKey, insertIdempotencyKey } from './idempotency-rows.ts'

const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000

/** The header `Idempotency-Key`, with the hash of the request body that the key belongs to. */
export interface IdempotencyKey {
  key: string
  bodyHash: string
}

export const IDEMPOTENCY_KEY_BOUNDS = { minLength: 1, maxLength: 255, pattern: '^[ -~]+$' }

export function readIdempotencyKey({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): IdempotencyKey | null {
  const header = headers['idempotency-key']
  if (header === undefined) return null
  const { maxLength, pattern } = IDEMPOTENCY_KEY_BOUNDS
  if (typeof header !== 'string' || header.length > maxLength || !new RegExp(pattern).test(header)) {
    throw badRequest("header 'idempotency-key' must be 1 to 255 printable characters")
  }
  return { key: header, bodyHash: hash('sha256', body ?? '') }
}

/**
 * Binds the key to a new task and returns its id, or returns the id of the task that the key is bound to. One of all
 * concurrent requests inserts the row, and the others wait for its commit.
 */
export async function bindIdempotencyKey(
  tx: Tx,
  projectId: string,
  { key, bodyHash }: IdempotencyKey,
  taskId: string,
): Promise<string> {
  const now = tx.world.clock.now()
  const since = toIsoTime(now - KEY_LIFETIME_MS)
  const [inserted] = await insertIdempotencyKey(tx.db, {
    project_id: projectId,
    key,
    body_hash: bodyHash,
    task_id: taskId,
    created_at: toIsoTime(now),
    since,
  })
  if (inserted) return taskId
  const [bound] = await findIdempotencyKey(tx.db, { project_id: projectId, key, since })
  if (bound?.body_hash !== bodyHash) throw keyUsedWithOtherBody()
  return bound.task_id
}

/** The id of the task that the key is bound to, if any. */
export async function taskIdOfIdempotencyKey(ctx: Ctx, projectId: string, { key, bodyHash }: IdempotencyKey) {
  const since = toIsoTime(ctx.world.clock.now() - KEY_LIFETIME_MS)
  const [bound] = await findIdempotencyKey(ctx.db, { project_id: projectId, key, since })
  if (bound && bound.body_hash !== bodyHash) throw keyUsedWithOtherBody()
  return bound?.task_id ?? null
}

export const keyUsedWithOtherBody = () => conflict('idempotency key was used with another body')
