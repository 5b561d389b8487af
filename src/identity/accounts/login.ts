import { Problem } from '../../platform/base/problem.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { countLoginAttempt, clearLoginFailures, auditFailedLogin } from './login-limit.ts'
import { findMemberByEmail, lockMember, type Member } from '../organisations/member-rows.ts'
import { passwordMatches } from './passwords.ts'
import { type SignInResult, signInMember } from '../authentication/sessions.ts'

export interface LoginInput {
  email: string
  password: string
  /** The client's IP address. */
  address: string
}

/** Takes the same time and returns the same error whether or not the account exists. */
export async function logInWithPassword(ctx: Ctx, input: LoginInput): Promise<SignInResult> {
  const counted = await countLoginAttempt(ctx, input)
  const known = await findMemberByEmail(ctx.db, input.email)
  const matches = await passwordMatches(ctx.world, input.password, known?.password ?? null)
  const signedIn = known && matches ? await signInIfUnchanged(ctx, known, input, counted) : null
  if (signedIn) return signedIn
  if (known) auditFailedLogin(ctx, known, input.address)
  throw wrongPassword()
}

/** Null when the member was removed or the password changed since it was compared. */
function signInIfUnchanged(ctx: Ctx, known: Member, input: LoginInput, counted: string): Promise<SignInResult | null> {
  return inTx(ctx, async (tx) => {
    const member = await lockMember(tx.db, known)
    if (!member) return null
    await clearLoginFailures(tx, input, counted)
    return signInMember(tx, member)
  })
}

const wrongPassword = () =>
  new Problem(401, 'email or password is wrong', { headers: { 'www-authenticate': 'Bearer' } })
