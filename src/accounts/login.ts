import { Problem } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { countAttempt, forgive, tellFailure } from './login-limit.ts'
import { findMemberByEmail, holdMember, type Member } from './member-rows.ts'
import { passwordMatches } from './passwords.ts'
import { type SignedIn, signIn } from './sessions.ts'

export interface Login {
  email: string
  password: string
  /** Where the request came from. */
  address: string
}

/** The same work and the same words whether or not the account exists. */
export async function login(ctx: Ctx, input: Login): Promise<SignedIn> {
  const counted = await countAttempt(ctx, input)
  const known = await findMemberByEmail(ctx.db, input.email)
  const matches = await passwordMatches(ctx.world, input.password, known?.password ?? null)
  const signedIn = known && matches ? await enter(ctx, known, input, counted) : null
  if (signedIn) return signedIn
  if (known) tellFailure(ctx, known, input.address)
  throw wrongPassword()
}

/** Null when the member is gone, or its password another, since it was compared. */
function enter(ctx: Ctx, known: Member, input: Login, counted: string): Promise<SignedIn | null> {
  return inTx(ctx, async (tx) => {
    const member = await holdMember(tx.db, known)
    if (!member) return null
    await forgive(tx, input, counted)
    return signIn(tx, member)
  })
}

const wrongPassword = () =>
  new Problem(401, 'email or password is wrong', { headers: { 'www-authenticate': 'Bearer' } })
