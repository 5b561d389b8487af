import { audit } from '../audit/append.ts'
import { networkOf } from '../base/network.ts'
import { tooMany } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import { isoTime } from '../ctx/world.ts'
import { countFailure, failuresOf, forgetFailures, uncountFailure } from './credential-rows.ts'
import type { Member } from './member-rows.ts'

/** Of one address at one account: a stranger elsewhere must not be able to keep a member out. */
const MOST_PER_PAIR = 10
/** Of all addresses together, against guesses that are spread over many. */
const MOST_PER_ACCOUNT = 100
const MOST_PER_ADDRESS = 50
const WINDOW_MS = 15 * 60_000

interface Attempt {
  email: string
  address: string
}

/**
 * Counts an attempt as one that failed, until `forgive` takes it back: before its hash, which costs, so that of guesses
 * sent all at once no more than the limit get that far. In the store: a restart or another replica gives no new ones.
 * Answers the window in which it was counted.
 */
export function countAttempt(ctx: Ctx, attempt: Attempt): Promise<string> {
  return inTx(ctx, async (tx) => {
    const start = isoTime(windowStart(tx))
    // Before anything is written: on SQLite what is written and then refused makes all works of its commit run again.
    for (const { subject, most } of countersOf(attempt))
      if ((await failuresOf(tx.db, subject, start)) >= most) throw tooManyFailures(tx)
    // Counting locks the counters until the commit.
    for (const { subject, most } of countersOf(attempt))
      if ((await countFailure(tx.db, subject, start)) > most) throw tooManyFailures(tx)
    return start
  })
}

/**
 * In the audit of whose account it was. Beside the request: with an account that nobody has there is nothing to write,
 * and the time that it takes must not tell which they are.
 */
export function tellFailure(ctx: Ctx, { id, org_id }: Pick<Member, 'id' | 'org_id'>, address: string): void {
  inTx(ctx, (tx) => audit(tx, org_id, SYSTEM, 'member.sign_in_failed', id, { address })).catch((error) =>
    ctx.world.log.warn({ err: error, member: id }, 'a failed sign-in is not in the audit'),
  )
}

/**
 * Takes back what was counted of an attempt that succeeded, and forgets the failures before it, but only those of
 * this address at this account. Who knows one password could otherwise go on guessing at others, and who guesses from
 * elsewhere would begin anew whenever the member signs in.
 */
export async function forgive(tx: Tx, attempt: Attempt, start: string): Promise<void> {
  const [pair, ...others] = countersOf(attempt)
  if (pair) await forgetFailures(tx.db, pair.subject)
  for (const { subject } of others) await uncountFailure(tx.db, subject, start)
}

export function windowStart({ world }: Pick<Ctx, 'world'>): number {
  const now = world.clock.now()
  return now - (now % WINDOW_MS)
}

function tooManyFailures(ctx: Pick<Ctx, 'world'>) {
  const left = windowStart(ctx) + WINDOW_MS - ctx.world.clock.now()
  return tooMany('too many failed sign-ins: try again later', left / 1000)
}

/** Always in this order, so that no two sign-ins wait for each other's counters. */
function countersOf({ email, address }: Attempt): { subject: string; most: number }[] {
  const network = networkOf(address)
  return [
    // A network has no blanks, so no two pairs are written alike.
    { subject: `pair:${network} ${email}`, most: MOST_PER_PAIR },
    { subject: `account:${email}`, most: MOST_PER_ACCOUNT },
    { subject: `address:${network}`, most: MOST_PER_ADDRESS },
  ]
}
