import { appendAuditEntry } from '../audit/append.ts'
import { conflict, forbidden, unauthorized } from '../base/problem.ts'
import { tokenHash } from '../base/tokens.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { deleteOtherSessions } from './credential-rows.ts'
import { countLoginAttempt, clearLoginFailures, auditFailedLogin } from './login-limit.ts'
import { hashPassword, passwordMatches } from './passwords.ts'
import { findMember, updatePassword } from './member-rows.ts'

export interface PasswordChange {
  password: string
  new_password: string
  /** The session that asks, and where from. */
  session: string
  address: string
}

/**
 * Whoever only holds the session cannot. All other sessions of the member end: who changes a password may fear that
 * somebody else knows it.
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
    // As at the sign-in: the member before the counters.
    if (!(await updatePassword(tx.db, member, password))) throw conflict('the password was changed meanwhile')
    await clearLoginFailures(tx, attempt, counted)
    for (const hash of await deleteOtherSessions(tx.db, member.id, tokenHash(input.session)))
      tx.notify({ topic: 'session-ended', id: hash })
    await appendAuditEntry(tx, scope.orgId, scope.actor, 'member.password_changed', member.id)
  })
}
