import { Problem } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { forgive, noteFailure, refuseTooManyFailures, tellFailure } from './login-limit.ts'
import { passwordMatches } from './passwords.ts'
import { findMemberByEmail, holdMember } from './member-rows.ts'
import { type SignedIn, signIn } from './sessions.ts'

export interface Login {
  email: string
  password: string
  /** Where the request came from. */
  address: string
}

/** The same work and the same words whether or not the account exists. */
export async function login(ctx: Ctx, input: Login): Promise<SignedIn> {
  await refuseTooManyFailures(ctx, input)
  const known = await findMemberByEmail(ctx.db, input.email)
  const matches = await passwordMatches(ctx.world, input.password, known?.password ?? null)
  const signedIn = await inTx(ctx, async (tx) => {
    const member = known && matches ? await holdMember(tx.db, known) : undefined
    if (!member) return noteFailure(tx, input)
    // Asked again after the hash: among guesses sent all at once the right one must not slip through.
    await refuseTooManyFailures(tx, input)
    await forgive(tx, input)
    return signIn(tx, member)
  })
  if (signedIn) return signedIn
  if (known) tellFailure(ctx, known, input.address)
  throw wrongPassword()
}

const wrongPassword = () =>
  new Problem(401, 'email or password is wrong', { headers: { 'www-authenticate': 'Bearer' } })
