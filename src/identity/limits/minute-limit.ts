import { type Problem, tooManyRequests } from '../../platform/base/problem.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { GroupCommitCache } from '../../platform/store/group-commit-state.ts'
import { insertMinuteCount, lockMinuteCount, updateMinuteCount } from './minute-limit-rows.ts'

const MINUTE_MS = 60_000
const SECOND_MS = 1_000

/** Whether another creation is allowed now. */
export interface RateTurn {
  /** The error if it is not. */
  refusal: Problem | null
  /** Counts the creation. */
  take(): void
}

/** Counts a creation, or throws if it is not allowed. */
export async function enforceRateLimit(tx: Tx, subject: string, limit: number, noun: string): Promise<void> {
  const turn = await lockRateLimit(tx, subject, limit, noun)
  if (turn.refusal) throw turn.refusal
  turn.take()
}

/**
 * Allows at most `limit` creations in any 60 seconds. The row of the subject is locked until the commit, so the limit holds over
 * all replicas. Creations of one second are counted together and expire with the newest of them.
 */
export async function lockRateLimit(tx: Tx, subject: string, limit: number, noun: string): Promise<RateTurn> {
  const counts = countsOfCommit.get(tx.groupCommit, subject) ?? (await lockCounts(tx, subject))
  // The clock is read after the lock, because the wait for the lock takes time.
  const now = tx.world.clock.now()
  const waitMs = msUntilAllowed(counts, limit, now)
  return {
    refusal: waitMs > 0 ? tooManyRequests(`more than ${limit} ${noun} in a minute`, waitMs / 1000) : null,
    take: () => saveCounts(tx, subject, addCreation(counts, now)),
  }
}

/** The time of the newest creation in a second, and how many there were. */
type SecondCount = readonly [newestAt: number, count: number]

/** The creations of the last minute that the current commit has locked and added, oldest first. */
const countsOfCommit = new GroupCommitCache<readonly SecondCount[]>()

async function lockCounts(tx: Tx, subject: string): Promise<readonly SecondCount[]> {
  const [row] = await lockMinuteCount(tx.db, { subject })
  if (row) return JSON.parse(row.seconds)
  await insertMinuteCount(tx.db, { subject })
  // Another replica may have inserted it.
  return lockCounts(tx, subject)
}

/** Several creations share a commit, and the row is written once for all of them. */
function saveCounts(tx: Tx, subject: string, counts: readonly SecondCount[]): void {
  countsOfCommit.set(tx.groupCommit, subject, counts)
  tx.groupCommit.writeAtEnd(`minute count of ${subject}`, (db) =>
    updateMinuteCount(db, { subject, seconds: JSON.stringify(counts) }),
  )
}

/** How long until fewer than `limit` creations are in the last minute. */
function msUntilAllowed(counts: readonly SecondCount[], limit: number, now: number): number {
  let later = 0
  for (const [newestAt, count] of counts.toReversed()) {
    later += count
    if (later >= limit) return Math.max(0, newestAt + MINUTE_MS - now)
  }
  return 0
}

function addCreation(counts: readonly SecondCount[], now: number): SecondCount[] {
  const recent = counts.filter(([newestAt]) => newestAt > now - MINUTE_MS)
  const last = recent.at(-1)
  // The clock of another replica may be ahead.
  if (!last || Math.floor(last[0] / SECOND_MS) < Math.floor(now / SECOND_MS)) return [...recent, [now, 1]]
  return [...recent.slice(0, -1), [Math.max(last[0], now), last[1] + 1]]
}
