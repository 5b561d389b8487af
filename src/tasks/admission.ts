import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { badRequest, conflict, tooMany } from '../base/problem.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { Common } from '../store/shared.ts'
import { dropOldKey, findKey, heldTurns, holdKey, setTurns, slotOf, startRing, takeSlot } from './admission-rows.ts'

const DAY = 24 * 60 * 60 * 1000
const WINDOW = 60_000

/** What `Idempotency-Key` binds: the key and the request that it came with first. */
export interface IdempotencyKey {
  key: string
  bodyHash: string
}

export function idempotencyKey({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>): IdempotencyKey | null {
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
export async function bindKey(
  tx: Tx,
  projectId: string,
  { key, bodyHash }: IdempotencyKey,
  taskId: string,
): Promise<string> {
  const now = tx.world.clock.now()
  const since = isoTime(now - DAY)
  await dropOldKey(tx.db, { project_id: projectId, key, before: since })
  const [held] = await holdKey(tx.db, {
    project_id: projectId,
    key,
    body_hash: bodyHash,
    task_id: taskId,
    created_at: isoTime(now),
  })
  if (held) return taskId
  const [known] = await findKey(tx.db, { project_id: projectId, key, since })
  if (known?.body_hash !== bodyHash) throw usedOtherwise()
  return known.task_id
}

/** The task that the key is bound to; null when it is not. */
export async function taskBoundTo(ctx: Ctx, projectId: string, { key, bodyHash }: IdempotencyKey) {
  const since = isoTime(ctx.world.clock.now() - DAY)
  const [known] = await findKey(ctx.db, { project_id: projectId, key, since })
  if (known && known.body_hash !== bodyHash) throw usedOtherwise()
  return known?.task_id ?? null
}

const usedOtherwise = () => conflict('idempotency key was used with another body')

/**
 * Admits a creation if the one `limit` before it is a minute old: a sliding window that is exact over all replicas,
 * because the project's count of turns is locked until the commit.
 */
export async function takeRateTurn(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const ring = rings.get(tx.shared, subject) ?? (await openRing(tx, subject, limit))
  // Not before the ring is ours: it may have been waited for.
  const now = tx.world.clock.now()
  const slot = ring.turns % limit
  if (ring.turns >= ring.seen || ring.newest > now - WINDOW) {
    const [former] = await slotOf(tx.db, { project_id: subject, slot })
    const left = (former?.at ?? 0) + WINDOW - now
    if (left > 0) throw tooMany(`more than ${limit} ${noun} in a minute`, left / 1000)
  }
  await takeSlot(tx.db, { project_id: subject, slot, at: now })
  ring.turns++
  // Once for all of them.
  tx.shared.writeLast(`turns of ${subject}`, (db) => setTurns(db, { project_id: subject, turns: ring.turns }))
}

/** The turns that a commit takes, each the slot of its number in the ring. */
interface Ring {
  /** How many were taken. */
  turns: number
  /** The slots of the turns before this one were looked at, and the newest of them was taken then. */
  seen: number
  newest: number
}

const rings = new Common<Ring>()
/** Most commits have fewer creations; those of a larger one look at their slots themselves. */
const TOGETHER = 32

async function openRing(tx: Tx, subject: string, limit: number): Promise<Ring> {
  const next = { project_id: subject, limit, next: Math.min(limit, TOGETHER) }
  let held = await heldTurns(tx.db, next)
  if (!held) {
    await startRing(tx.db, next)
    held = await heldTurns(tx.db, next)
  }
  if (!held) throw new Error(`the ring of ${subject} has no count`)
  const ring = { turns: held.turns, seen: held.turns + next.next, newest: held.newest }
  rings.set(tx.shared, subject, ring)
  return ring
}
