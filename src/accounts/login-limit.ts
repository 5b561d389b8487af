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
  const start = isoTime(windowStart(ctx))
  const byAccount = await failuresOf(ctx.db, accountOf(attempt), start)
  const byAddress = await failuresOf(ctx.db, addressOf(attempt), start)
  if (byAccount >= MOST_PER_ACCOUNT || byAddress >= MOST_PER_ADDRESS) throw tooManyFailures(ctx)
}

/** Counting locks the counters until the commit, so of guesses sent all at once no more than the limit are answered. */
export async function noteFailure(tx: Tx, attempt: Attempt): Promise<void> {
  const start = isoTime(windowStart(tx))
  const byAccount = await countFailure(tx.db, accountOf(attempt), start)
  const byAddress = await countFailure(tx.db, addressOf(attempt), start)
  if (byAccount > MOST_PER_ACCOUNT || byAddress > MOST_PER_ADDRESS) throw tooManyFailures(tx)
}

/** The address is not forgiven: who knows one password could otherwise go on guessing at others. */
export async function forgiveAccount(tx: Tx, attempt: Attempt): Promise<void> {
  await forgetFailures(tx.db, accountOf(attempt))
}

export function windowStart({ world }: Pick<Ctx, 'world'>): number {
  const now = world.clock.now()
  return now - (now % WINDOW_MS)
}

function tooManyFailures(ctx: Pick<Ctx, 'world'>) {
  const left = windowStart(ctx) + WINDOW_MS - ctx.world.clock.now()
  return tooMany('too many failed sign-ins: try again later', left / 1000)
}

const accountOf = ({ email }: Attempt) => `account:${email}`
const addressOf = ({ address }: Attempt) => `address:${address}`
