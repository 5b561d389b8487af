import { appendAuditEntry } from '../../audit/append.ts'
import { toClientNetwork } from '../../platform/base/ip-address.ts'
import { tooManyRequests } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import type { Member } from '../organisations/member-rows.ts'
import {
  decrementRateWindow,
  deleteRateWindows,
  incrementRateWindow,
  readRateWindow,
} from '../limits/rate-window-rows.ts'
import { rateWindowMsLeft, rateWindowStart } from '../limits/rate-windows.ts'

/** From one address to one account, so that an attacker elsewhere cannot lock the member out. */
const MAX_FAILURES_PER_PAIR = 10
/** From all addresses together, against guesses that are spread over many. */
const MAX_FAILURES_PER_ACCOUNT = 100
const MAX_FAILURES_PER_ADDRESS = 50

interface LoginAttempt {
  email: string
  address: string
}

/**
 * Counts an attempt as failed before its password is hashed, so that concurrent guesses cannot exceed the limit;
 * `clearLoginFailures` takes it back. The counters are in the store, so a restart or another replica does not reset them.
 * Returns the window in which the attempt was counted.
 */
export function countLoginAttempt(ctx: Ctx, attempt: LoginAttempt): Promise<string> {
  return inTx(ctx, async (tx) => {
    const start = rateWindowStart(tx)
    // Checks before writing: on SQLite a transaction that writes and then fails makes its whole group commit run again.
    for (const { subject, max } of failureCounters(attempt))
      if ((await readRateWindow(tx.db, subject, start)) >= max) throw tooManyFailures(tx)
    // Checks again while counting, because counting locks the counters until the commit.
    for (const { subject, max } of failureCounters(attempt))
      if ((await incrementRateWindow(tx.db, subject, start)) > max) throw tooManyFailures(tx)
    return start
  })
}

/**
 * Adds the failure to the member's audit log. Runs in the background, so that the response time does not reveal whether
 * the account exists.
 */
export function auditFailedLogin(ctx: Ctx, { id, org_id }: Pick<Member, 'id' | 'org_id'>, address: string): void {
  inTx(ctx, (tx) => appendAuditEntry(tx, org_id, SYSTEM_ACTOR, 'member.sign_in_failed', id, { address })).catch(
    (error) => ctx.world.log.warn({ err: error, member: id }, 'failed sign-in was not added to the audit log'),
  )
}

/**
 * Takes back a successful attempt and deletes the earlier failures of this address at this account. The other counters
 * keep their failures: an attacker could otherwise reset them with one known password, or with each sign-in of the member.
 */
export async function clearLoginFailures(tx: Tx, attempt: LoginAttempt, start: string): Promise<void> {
  const [pair, ...others] = failureCounters(attempt)
  if (pair) await deleteRateWindows(tx.db, pair.subject)
  for (const { subject } of others) await decrementRateWindow(tx.db, subject, start)
}

function tooManyFailures(ctx: Pick<Ctx, 'world'>) {
  return tooManyRequests('too many failed sign-ins: try again later', rateWindowMsLeft(ctx) / 1000)
}

/** Always in this order, so that two sign-ins cannot deadlock on the counters. */
function failureCounters({ email, address }: LoginAttempt): { subject: string; max: number }[] {
  const network = toClientNetwork(address)
  return [
    // A network contains no space, so the pair is unambiguous.
    { subject: `pair:${network} ${email}`, max: MAX_FAILURES_PER_PAIR },
    { subject: `account:${email}`, max: MAX_FAILURES_PER_ACCOUNT },
    { subject: `address:${network}`, max: MAX_FAILURES_PER_ADDRESS },
  ]
}
