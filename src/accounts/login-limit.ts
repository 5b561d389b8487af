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
  sumLoginFailures,
} from './credential-rows.ts'
import type { Member } from './member-rows.ts'

/** From one address to one account, so that an attacker elsewhere cannot lock the member out. */
const MAX_FAILURES_PER_PAIR = 10
/** From all addresses together, against guesses that are spread over many. */
const MAX_FAILURES_PER_ACCOUNT = 100
const MAX_FAILURES_PER_ADDRESS = 50
const FAILURE_WINDOW_MS = 15 * 60_000

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
    const start = toIsoTime(failureWindowStart(tx))
    // Checks before writing: on SQLite a transaction that writes and then fails makes its whole group commit run again.
    for (const { subject, max } of failureCounters(attempt))
      if ((await countLoginFailures(tx.db, subject, start)) >= max) throw tooManyFailures(tx)
    // Checks again while counting, because counting locks the counters until the commit.
    for (const { subject, max } of failureCounters(attempt))
      if ((await incrementLoginFailures(tx.db, subject, start)) > max) throw tooManyFailures(tx)
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
  if (pair) await deleteLoginFailures(tx.db, pair.subject)
  for (const { subject } of others) await decrementLoginFailures(tx.db, subject, start)
}

/**
 * Counts a call that needs no credential, or that sends a mail; a 429 after this many calls of one subject in 15 minutes.
 * The counters are those of failed sign-ins, so they are shared by all replicas and cleaned up.
 */
export function limitOpenCalls(ctx: Ctx, subject: string, max: number, noun = 'messages'): Promise<void> {
  return inTx(ctx, async (tx) => {
    const start = toIsoTime(failureWindowStart(tx))
    // Checks before writing, as above.
    if ((await countLoginFailures(tx.db, subject, start)) < max) {
      if ((await incrementLoginFailures(tx.db, subject, start)) <= max) return
    }
    const msLeft = failureWindowStart(tx) + FAILURE_WINDOW_MS - tx.world.clock.now()
    throw tooManyRequests(`too many ${noun}: try again later`, msLeft / 1000)
  })
}

/**
 * Counts something that a subject did, and returns how often it did so within about an hour: in this quarter of an hour and
 * the three before. The counters are those of failed sign-ins, as above.
 */
export async function countWithinHour(tx: Tx, subject: string): Promise<number> {
  const start = failureWindowStart(tx)
  await incrementLoginFailures(tx.db, subject, toIsoTime(start))
  return sumLoginFailures(tx.db, subject, toIsoTime(keptSince(tx)))
}

const KEPT_WINDOWS = 3

/** The start of the oldest window whose counts are kept. */
export const keptSince = (ctx: Pick<Ctx, 'world'>): number => failureWindowStart(ctx) - KEPT_WINDOWS * FAILURE_WINDOW_MS

export function failureWindowStart({ world }: Pick<Ctx, 'world'>): number {
  const now = world.clock.now()
  return now - (now % FAILURE_WINDOW_MS)
}

function tooManyFailures(ctx: Pick<Ctx, 'world'>) {
  const msLeft = failureWindowStart(ctx) + FAILURE_WINDOW_MS - ctx.world.clock.now()
  return tooManyRequests('too many failed sign-ins: try again later', msLeft / 1000)
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
