import { tooManyRequests } from '../base/problem.ts'
import type { Tx } from '../ctx/ctx.ts'
import { findRateSlot, lockRateCounter, updateRateCounter, upsertRateSlot } from './rate-limit-rows.ts'

const RATE_WINDOW_MS = 60_000

/**
 * Allows at most `limit` creations in any 60 seconds. The times of the last `limit` creations are a ring of slots: a new
 * creation takes the oldest slot, if that is a minute old. The count of a subject is locked until the commit, so the
 * limit is exact over all replicas.
 */
export async function enforceRateLimit(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const count = await lockRateCounter(tx.db, subject)
  // The clock is read after the lock, because the wait for the lock takes time.
  const now = tx.world.clock.now()
  const slot = count % limit
  const [previous] = await findRateSlot(tx.db, { project_id: subject, slot })
  const waitMs = (previous?.at ?? 0) + RATE_WINDOW_MS - now
  if (waitMs > 0) throw tooManyRequests(`more than ${limit} ${noun} in a minute`, waitMs / 1000)
  await upsertRateSlot(tx.db, { project_id: subject, slot, at: now })
  await updateRateCounter(tx.db, { project_id: subject, count: count + 1 })
}
