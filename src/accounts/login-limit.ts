import { appendAuditEntry } from '../audit/append.ts'
import { toClientNetwork } from '../base/ip-address.ts'
import { tooManyRequests } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { toIsoTime } from '../ctx/world.ts'
import {
  incrementLoginFailures,
  countLoginFailures,
  deleteLoginFailures,
  decrementLoginFailures,
} from './credential-rows.ts'
import type { Member } from './member-rows.ts'

/** Of one address at one account: a stranger elsewhere must not be able to keep a member out. */
const MAX_FAILURES_PER_PAIR = 10
/** Of all addresses together, against guesses that are spread over many. */
const MAX_FAILURES_PER_ACCOUNT = 100
const MAX_FAILURES_PER_ADDRESS = 50
const FAILURE_WINDOW_MS = 15 * 60_000

interface LoginAttempt {
  email: string
  address: string
}

/**
 * Counts an attempt as one that failed, until `forgive` takes it back: before its hash, which costs, so that of guesses
 * sent all at once no more than the limit get that far. In the store: a restart or another replica gives no new ones.
 * Answers the window in which it was counted.
 */
export function countLoginAttempt(ctx: Ctx, attempt: LoginAttempt): Promise<string> {
  return inTx(ctx, async (tx) => {
    const start = toIsoTime(failureWindowStart(tx))
    // Before anything is written: on SQLite what is written and then refused makes all works of its commit run again.
    for (const { subject, most } of failureCounters(attempt))
      if ((await countLoginFailures(tx.db, subject, start)) >= most) throw tooManyFailures(tx)
    // Counting locks the counters until the commit.
    for (const { subject, most } of failureCounters(attempt))
      if ((await incrementLoginFailures(tx.db, subject, start)) > most) throw tooManyFailures(tx)
    return start
  })
}

/**
 * In the audit of whose account it was. Beside the request: with an account that nobody has there is nothing to write,
 * and the time that it takes must not tell which they are.
 */
export function auditFailedLogin(ctx: Ctx, { id, org_id }: Pick<Member, 'id' | 'org_id'>, address: string): void {
  inTx(ctx, (tx) => appendAuditEntry(tx, org_id, SYSTEM_ACTOR, 'member.sign_in_failed', id, { address })).catch(
    (error) => ctx.world.log.warn({ err: error, member: id }, 'a failed sign-in is not in the audit'),
  )
}

/**
 * Takes back what was counted of an attempt that succeeded, and forgets the failures before it, but only those of
 * this address at this account. Who knows one password could otherwise go on guessing at others, and who guesses from
 * elsewhere would begin anew whenever the member signs in.
 */
export async function clearLoginFailures(tx: Tx, attempt: LoginAttempt, start: string): Promise<void> {
  const [pair, ...others] = failureCounters(attempt)
  if (pair) await deleteLoginFailures(tx.db, pair.subject)
  for (const { subject } of others) await decrementLoginFailures(tx.db, subject, start)
}

export function failureWindowStart({ world }: Pick<Ctx, 'world'>): number {
  const now = world.clock.now()
  return now - (now % FAILURE_WINDOW_MS)
}

function tooManyFailures(ctx: Pick<Ctx, 'world'>) {
  const left = failureWindowStart(ctx) + FAILURE_WINDOW_MS - ctx.world.clock.now()
  return tooManyRequests('too many failed sign-ins: try again later', left / 1000)
}

/** Always in this order, so that no two sign-ins wait for each other's counters. */
function failureCounters({ email, address }: LoginAttempt): { subject: string; most: number }[] {
  const network = toClientNetwork(address)
  return [
    // A network has no blanks, so no two pairs are written alike.
    { subject: `pair:${network} ${email}`, most: MAX_FAILURES_PER_PAIR },
    { subject: `account:${email}`, most: MAX_FAILURES_PER_ACCOUNT },
    { subject: `address:${network}`, most: MAX_FAILURES_PER_ADDRESS },
  ]
}
