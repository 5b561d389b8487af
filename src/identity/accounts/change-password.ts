import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, forbidden, unauthorized } from '../../platform/base/problem.ts'
import { tokenHash } from '../../platform/base/tokens.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { deleteOtherSessions } from '../authentication/credential-rows.ts'
import { countLoginAttempt, clearLoginFailures, auditFailedLogin } from './login-limit.ts'
import { hashPassword, passwordMatches } from './passwords.ts'
import { findMember, updatePassword } from '../organisations/member-rows.ts'

export interface PasswordChange {
  password: string
  new_password: string
  /** The token of the session that makes the change; it stays signed in. */
  session: string
  address: string
}

/**
 * Needs the old password, so a stolen session is not enough. All other sessions of the member end, because the old
 * password may be known to someone else.
 */
export async function changePassword(ctx: Ctx, scope: Scope, input: PasswordChange): Promise<void> {
  const member = await findMember(ctx.db, scope.orgId, scope.actor.id)
  if (!member) throw unauthorized()
  const attempt = { email: member.email, address: input.address }
  const counted = await countLoginAttempt(ctx, attempt)
  if (!(await passwordMatches(ctx.world, input.password, member.password))) {
    auditFailedLogin(ctx, member, input.address)
    throw forbidden('password is wrong')
  }
  const password = await hashPassword(ctx.world, input.new_password)
  await inTx(ctx, async (tx) => {
    // Locks the member before the failure counters, in the same order as a sign-in, so that they cannot deadlock.
    if (!(await updatePassword(tx.db, member, password)))
      throw conflict('the password was changed at the same time: sign in again')
    await clearLoginFailures(tx, attempt, counted)
    for (const hash of await deleteOtherSessions(tx.db, member.id, tokenHash(input.session)))
      tx.publishAfterCommit({ topic: 'session-ended', id: hash })
    await appendAuditEntry(tx, scope.orgId, scope.actor, 'member.password_changed', member.id)
  })
}
