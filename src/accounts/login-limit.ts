import { audit } from '../audit/append.ts'
import { tooMany } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import { isoTime } from '../ctx/world.ts'
import { countFailure, failuresOf, forgetFailures } from './credential-rows.ts'
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

/** Counted in the store: a restart or another replica gives no new guesses. */
export async function refuseTooManyFailures(ctx: Ctx, attempt: Attempt): Promise<void> {
  const start = isoTime(windowStart(ctx))
  for (const { subject, most } of countersOf(attempt))
    if ((await failuresOf(ctx.db, subject, start)) >= most) throw tooManyFailures(ctx)
}

/** Counting locks the counters until the commit, so of guesses sent all at once no more than the limit are answered. */
export async function noteFailure(tx: Tx, attempt: Attempt): Promise<void> {
  const start = isoTime(windowStart(tx))
  for (const { subject, most } of countersOf(attempt))
    if ((await countFailure(tx.db, subject, start)) > most) throw tooManyFailures(tx)
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
 * Only this address at this account. Who knows one password could otherwise go on guessing at others, and who guesses
 * from elsewhere would begin anew whenever the member signs in.
 */
export async function forgive(tx: Tx, attempt: Attempt): Promise<void> {
  await forgetFailures(tx.db, pairOf(attempt))
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
function countersOf(attempt: Attempt): { subject: string; most: number }[] {
  return [
    { subject: pairOf(attempt), most: MOST_PER_PAIR },
    { subject: `account:${attempt.email}`, most: MOST_PER_ACCOUNT },
    { subject: `address:${attempt.address}`, most: MOST_PER_ADDRESS },
  ]
}

/** An address has no blanks, so no two pairs are written alike. */
const pairOf = ({ email, address }: Attempt) => `pair:${address} ${email}`
