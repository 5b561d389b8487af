import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { badRequest, conflict, tooManyRequests } from '../base/problem.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import { GroupCommitCache } from '../store/group-commit-state.ts'
import {
  deleteExpiredIdempotencyKey,
  findIdempotencyKey,
  lockRateState,
  insertIdempotencyKey,
  updateRateCounter,
  findRateSlot,
  insertRateCounter,
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
 * Admits a creation if the one `limit` before it is a minute old: a sliding window that is exact over all replicas,
 * because the project's count of turns is locked until the commit.
 */
export async function enforceRateLimit(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const ring = rateBatches.get(tx.groupCommit, subject) ?? (await openRateBatch(tx, subject, limit))
  // Not before the ring is ours: it may have been waited for.
  const now = tx.world.clock.now()
  const slot = ring.turns % limit
  if (ring.turns >= ring.seen || ring.newest > now - RATE_WINDOW_MS) {
    const [former] = await findRateSlot(tx.db, { project_id: subject, slot })
    const left = (former?.at ?? 0) + RATE_WINDOW_MS - now
    if (left > 0) throw tooManyRequests(`more than ${limit} ${noun} in a minute`, left / 1000)
  }
  await upsertRateSlot(tx.db, { project_id: subject, slot, at: now })
  ring.turns++
  // Once for all of them.
  tx.groupCommit.writeAtEnd(`turns of ${subject}`, (db) =>
    updateRateCounter(db, { project_id: subject, turns: ring.turns }),
  )
}

/** The turns that a commit takes, each the slot of its number in the ring. */
interface RateBatch {
  /** How many were taken. */
  turns: number
  /** The slots of the turns before this one were looked at, and the newest of them was taken then. */
  seen: number
  newest: number
}

const rateBatches = new GroupCommitCache<RateBatch>()
/** Most commits have fewer creations; those of a larger one look at their slots themselves. */
const MAX_PREFETCHED_SLOTS = 32

async function openRateBatch(tx: Tx, subject: string, limit: number): Promise<RateBatch> {
  const next = { project_id: subject, limit, next: Math.min(limit, MAX_PREFETCHED_SLOTS) }
  let held = await lockRateState(tx.db, next)
  if (!held) {
    await insertRateCounter(tx.db, next)
    held = await lockRateState(tx.db, next)
  }
  if (!held) throw new Error(`the ring of ${subject} has no count`)
  const ring = { turns: held.turns, seen: held.turns + next.next, newest: held.newest }
  rateBatches.set(tx.groupCommit, subject, ring)
  return ring
}
