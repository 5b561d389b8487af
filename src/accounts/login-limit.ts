import { tooMany } from '../base/problem.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { countFailure, failuresOf, forgetFailures } from './credential-rows.ts'

const MOST_PER_ACCOUNT = 10
const MOST_PER_ADDRESS = 50
const WINDOW_MS = 15 * 60_000

interface Attempt {
  email: string
  address: string
}

/** Counted in the store: a restart or another replica gives no new guesses. */
export async function refuseTooManyFailures(ctx: Ctx, attempt: Attempt): Promise<void> {
  const start = windowStart(ctx)
  const byAccount = await failuresOf(ctx.db, accountOf(attempt), isoTime(start))
  const byAddress = await failuresOf(ctx.db, addressOf(attempt), isoTime(start))
  if (byAccount < MOST_PER_ACCOUNT && byAddress < MOST_PER_ADDRESS) return
  const left = start + WINDOW_MS - ctx.world.clock.now()
  throw tooMany('too many failed sign-ins: try again later', left / 1000)
}

export async function noteFailure(tx: Tx, attempt: Attempt): Promise<void> {
  const start = isoTime(windowStart(tx))
  await countFailure(tx.db, accountOf(attempt), start)
  await countFailure(tx.db, addressOf(attempt), start)
}

/** The address is not forgiven: who knows one password could otherwise go on guessing at others. */
export async function forgiveAccount(tx: Tx, attempt: Attempt): Promise<void> {
  await forgetFailures(tx.db, accountOf(attempt))
}

export function windowStart({ world }: Pick<Ctx, 'world'>): number {
  const now = world.clock.now()
  return now - (now % WINDOW_MS)
}

const accountOf = ({ email }: Attempt) => `account:${email}`
const addressOf = ({ address }: Attempt) => `address:${address}`
