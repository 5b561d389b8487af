import { type Problem, tooManyRequests } from '../../platform/base/problem.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { GroupCommitCache } from '../../platform/store/group-commit-state.ts'
import { findRateSlot, insertRateCounter, lockRateState, updateRateCounter, upsertRateSlot } from './rate-limit-rows.ts'

const RATE_WINDOW_MS = 60_000

/** Whether another creation is allowed now. */
export interface RateTurn {
  /** The error if it is not. */
  refusal: Problem | null
  /** Counts the creation. */
  take(): Promise<void>
}

/** Counts a creation, or throws if it is not allowed. */
export async function enforceRateLimit(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const turn = await lockRateLimit(tx, subject, limit, noun)
  if (turn.refusal) throw turn.refusal
  await turn.take()
}

/**
 * Allows at most `limit` creations in any 60 seconds. The times of the last `limit` creations are a ring of slots: a new
 * creation takes the oldest slot, if that is a minute old. The count of a subject is locked until the commit, so the
 * limit is exact over all replicas.
 */
export async function lockRateLimit(tx: Tx, subject: string, limit: number, noun: string): Promise<RateTurn> {
  const batch = rateBatches.get(tx.groupCommit, subject) ?? (await openRateBatch(tx, subject, limit))
  // The clock is read after the lock, because the wait for the lock takes time.
  const now = tx.world.clock.now()
  const slot = batch.count % limit
  let waitMs = 0
  if (batch.count >= batch.prefetchedTo || batch.newestAt > now - RATE_WINDOW_MS) {
    const [previous] = await findRateSlot(tx.db, { project_id: subject, slot })
    waitMs = (previous?.at ?? 0) + RATE_WINDOW_MS - now
  }
  return {
    refusal: waitMs > 0 ? tooManyRequests(`more than ${limit} ${noun} in a minute`, waitMs / 1000) : null,
    take: () => takeSlot(tx, batch, { subject, slot, now }),
  }
}

async function takeSlot(
  tx: Tx,
  batch: RateBatch,
  { subject, slot, now }: { subject: string; slot: number; now: number },
): Promise<void> {
  await upsertRateSlot(tx.db, { project_id: subject, slot, at: now })
  batch.count++
  // Several creations share a commit, and the counter is written once for all of them.
  tx.groupCommit.writeAtEnd(`rate counter of ${subject}`, (db) =>
    updateRateCounter(db, { project_id: subject, count: batch.count }),
  )
}

/** The creations of one subject in one commit. */
interface RateBatch {
  /** How many creations were ever allowed. */
  count: number
  /** The slots of creations before this number were read at the start of the commit. */
  prefetchedTo: number
  /** The newest time in those slots. If it is a minute old, no slot has to be read again. */
  newestAt: number
}

const rateBatches = new GroupCommitCache<RateBatch>()
/** Most commits have fewer creations than this; the others of a larger commit read their slots one by one. */
const MAX_PREFETCHED_SLOTS = 32

async function openRateBatch(tx: Tx, subject: string, limit: number): Promise<RateBatch> {
  const query = { project_id: subject, limit, slots: Math.min(limit, MAX_PREFETCHED_SLOTS) }
  let state = await lockRateState(tx.db, query)
  if (!state) {
    await insertRateCounter(tx.db, query)
    state = await lockRateState(tx.db, query)
  }
  if (!state) throw new Error(`no rate counter for ${subject}`)
  const batch = { count: state.count, prefetchedTo: state.count + query.slots, newestAt: state.newestAt }
  rateBatches.set(tx.groupCommit, subject, batch)
  return batch
}
