import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { badRequest, conflict, tooManyRequests } from '../base/problem.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import {
  deleteExpiredIdempotencyKey,
  findIdempotencyKey,
  lockRateCounter,
  insertIdempotencyKey,
  updateRateCounter,
  findRateSlot,
  upsertRateSlot,
} from './rate-limit-rows.ts'

const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000
const RATE_WINDOW_MS = 60_000

/** What `Idempotency-Key` binds: the key and the request that it came with first. */
export interface IdempotencyKey {
  key: string
  bodyHash: string
}

export function readIdempotencyKey({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>): IdempotencyKey | null {
  const header = headers['idempotency-key']
  if (header === undefined) return null
  if (typeof header !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(header)) {
    throw badRequest("header 'idempotency-key' must be 1 to 255 printable characters")
  }
  return { key: header, bodyHash: hash('sha256', Buffer.isBuffer(body) ? body : '') }
}

/**
 * Binds the key to a new task, or names the task that it is bound to. Of many simultaneous requests one inserts the
 * row and the others wait for its commit.
 */
export async function bindIdempotencyKey(
  tx: Tx,
  projectId: string,
  { key, bodyHash }: IdempotencyKey,
  taskId: string,
): Promise<string> {
  const now = tx.world.clock.now()
  const since = toIsoTime(now - KEY_LIFETIME_MS)
  await deleteExpiredIdempotencyKey(tx.db, { project_id: projectId, key, before: since })
  const [held] = await insertIdempotencyKey(tx.db, {
    project_id: projectId,
    key,
    body_hash: bodyHash,
    task_id: taskId,
    created_at: toIsoTime(now),
  })
  if (held) return taskId
  const [known] = await findIdempotencyKey(tx.db, { project_id: projectId, key, since })
  if (known?.body_hash !== bodyHash) throw keyUsedWithOtherBody()
  return known.task_id
}

/** The task that the key is bound to; null when it is not. */
export async function taskIdOfIdempotencyKey(ctx: Ctx, projectId: string, { key, bodyHash }: IdempotencyKey) {
  const since = toIsoTime(ctx.world.clock.now() - KEY_LIFETIME_MS)
  const [known] = await findIdempotencyKey(ctx.db, { project_id: projectId, key, since })
  if (known && known.body_hash !== bodyHash) throw keyUsedWithOtherBody()
  return known?.task_id ?? null
}

const keyUsedWithOtherBody = () => conflict('idempotency key was used with another body')

/**
 * Allows a creation if the one `limit` creations earlier is at least a minute old. The sliding window is exact across
 * replicas, because the counter of the project is locked until the commit.
 */
export async function enforceRateLimit(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const count = await lockRateCounter(tx.db, subject)
  // Read after the lock, which may have been waited for.
  const now = tx.world.clock.now()
  const slot = count % limit
  const [former] = await findRateSlot(tx.db, { project_id: subject, slot })
  const left = (former?.at ?? 0) + RATE_WINDOW_MS - now
  if (left > 0) throw tooManyRequests(`more than ${limit} ${noun} in a minute`, left / 1000)
  await upsertRateSlot(tx.db, { project_id: subject, slot, at: now })
  await updateRateCounter(tx.db, { project_id: subject, count: count + 1 })
}
