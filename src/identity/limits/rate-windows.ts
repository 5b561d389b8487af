import { tooManyRequests } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { incrementRateWindow, readRateWindow, sumRateWindows } from './rate-window-rows.ts'

// The counters are in the store, so a restart or another replica does not reset them.

const WINDOW_MS = 15 * 60_000
const KEPT_WINDOWS = 3

/** Counts a call that needs no credential, or that sends a mail; a 429 after this many calls of one subject in 15 minutes. */
export function limitOpenCalls(ctx: Ctx, subject: string, max: number, noun = 'messages'): Promise<void> {
  return inTx(ctx, async (tx) => {
    const start = rateWindowStart(tx)
    // Checks before writing: on SQLite a transaction that writes and then fails makes its whole group commit run again.
    if ((await readRateWindow(tx.db, subject, start)) < max) {
      if ((await incrementRateWindow(tx.db, subject, start)) <= max) return
    }
    throw tooManyRequests(`too many ${noun}: try again later`, rateWindowMsLeft(tx) / 1000)
  })
}

/** Counts something that a subject did. */
export async function countInWindow(tx: Tx, subject: string): Promise<void> {
  await incrementRateWindow(tx.db, subject, rateWindowStart(tx))
}

/** How often a subject did something within about an hour: in this quarter of an hour and the three before. */
export const readWithinHour = (tx: Tx, subject: string): Promise<number> =>
  sumRateWindows(tx.db, subject, oldestRateWindow(tx))

type Clock = Pick<Ctx, 'world'>

/** The start of the current window. */
export const rateWindowStart = (ctx: Clock): string => toIsoTime(windowStartMs(ctx))

/** The start of the oldest window whose counts are kept. */
export const oldestRateWindow = (ctx: Clock): string => toIsoTime(windowStartMs(ctx) - KEPT_WINDOWS * WINDOW_MS)

export const rateWindowMsLeft = (ctx: Clock): number => windowStartMs(ctx) + WINDOW_MS - ctx.world.clock.now()

function windowStartMs({ world }: Clock): number {
  const now = world.clock.now()
  return now - (now % WINDOW_MS)
}
