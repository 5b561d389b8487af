import { timingSafeEqual } from 'node:crypto'
import { Problem } from '../../../platform/base/problem.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { HookHead } from './adapter.ts'

/** How far a signed time may be from now, in both directions. */
export const MAX_CALL_AGE_S = 300

/** What the check of the headers needs to know of a call. */
export type SignedHead = Pick<HookHead, 'secret' | 'headers'>

/** What the check of a signature needs to know of a call. */
export type SignedCall = SignedHead & { body: Buffer }

/** The secret of the hook, without which no call can be checked. */
export function requireHookSecret({ secret }: Pick<HookHead, 'secret'>): string {
  if (secret === null) throw refusedCall('the hook has no secret yet')
  return secret
}

/** Throws a 401 unless one of the expected signatures was sent. It takes the same time for every wrong one. */
export function requireSignature(sent: string, ...expected: string[]): void {
  if (!expected.some((one) => isEqualText(sent, one))) throw refusedCall('the signature of the call is not valid')
}

/** Throws a 401 for a time that is more than five minutes away, so that a call that was overheard cannot be repeated later. */
export function requireRecentCall({ world }: Pick<Ctx, 'world'>, seconds: string): void {
  const ageInSeconds = /^\d{1,12}$/.test(seconds) ? Math.abs(world.clock.now() / 1000 - Number(seconds)) : Infinity
  if (ageInSeconds > MAX_CALL_AGE_S) throw refusedCall('the call was signed more than five minutes ago')
}

/** A header of the call; empty if it is missing. */
export function hookHeader({ headers }: Pick<HookHead, 'headers'>, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

const refusedCall = (message: string) => new Problem(401, message)

function isEqualText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
