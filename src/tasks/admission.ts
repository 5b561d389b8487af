import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { badRequest, conflict, tooMany } from '../base/problem.ts'
import type { Tx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { Common } from '../store/shared.ts'
import { dropOldKey, findKey, holdKey, lockTurns, newestOf, setTurns, startRing, takeSlot } from './admission-rows.ts'

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
  return {
    key: header,
    bodyHash: createHash('sha256')
      .update(Buffer.isBuffer(body) ? body : '')
      .digest('hex'),
  }
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
  await dropOldKey(tx.db, { project_id: projectId, key, before: isoTime(now - DAY) })
  const [held] = await holdKey(tx.db, {
    project_id: projectId,
    key,
    body_hash: bodyHash,
    task_id: taskId,
    created_at: isoTime(now),
  })
  if (held) return taskId
  const [known] = await findKey(tx.db, { project_id: projectId, key })
  if (known?.body_hash !== bodyHash) throw conflict('idempotency key was used with another body')
  return known.task_id
}

/**
 * Admits a creation if the one `limit` before it is a minute old: a sliding window that is exact over all replicas,
 * because the project's count of turns is locked until the commit.
 */
export async function takeRateTurn(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const now = tx.world.clock.now()
  const ring = rings.get(tx.shared, subject) ?? (await openRing(tx, subject, limit))
  if (ring.turns === ring.free) {
    const { at } = await slotsFrom(tx, subject, ring.turns, limit, 1)
    if (at > now - WINDOW) throw tooMany(`more than ${limit} ${noun} in a minute`, (at + WINDOW - now) / 1000)
    ring.free++
  }
  await takeSlot(tx.db, { project_id: subject, slot: ring.turns % limit, at: now })
  ring.turns++
  // Once for all of them.
  tx.shared.writeLast(`turns of ${subject}`, (db) => setTurns(db, { project_id: subject, turns: ring.turns }))
}

/** The turns that a commit takes, each the slot of its number in the ring. */
interface Ring {
  /** How many were taken. */
  turns: number
  /** The first that may still be somebody else's. */
  free: number
}

const rings = new Common<Ring>()
/** As many as may share a commit are looked at together. */
const TOGETHER = 32

async function openRing(tx: Tx, subject: string, limit: number): Promise<Ring> {
  let [count] = await lockTurns(tx.db, { project_id: subject })
  if (!count) {
    await startRing(tx.db, { project_id: subject })
    ;[count] = await lockTurns(tx.db, { project_id: subject })
  }
  if (!count) throw new Error(`the ring of ${subject} has no count`)
  const { turns } = count
  const next = Math.min(limit, TOGETHER)
  const { at } = await slotsFrom(tx, subject, turns, limit, next)
  const ring = { turns, free: at > tx.world.clock.now() - WINDOW ? turns : turns + next }
  rings.set(tx.shared, subject, ring)
  return ring
}

/** When the newest of the slots was taken that so many turns would take. */
async function slotsFrom(tx: Tx, project_id: string, turn: number, limit: number, turns: number) {
  const from = turn % limit
  const to = from + turns
  const [newest] = await newestOf(tx.db, { project_id, from, to: Math.min(to, limit), wrapped: to - limit })
  return { at: newest?.at ?? 0 }
}
