import { audit } from '../audit/append.ts'
import { conflict, forbidden } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { foundingOrganisation, foundOrganisation } from './founding.ts'
import { hashPassword } from './passwords.ts'
import { insertMember, type Member } from './member-rows.ts'
import { isFoundingOwned, renameOrganisation } from './organisation-rows.ts'
import { type SignedIn, signIn } from './sessions.ts'

export interface Signup {
  email: string
  password: string
  organisation?: string | undefined
  name?: string | undefined
}

/**
 * The first start makes an organisation that nobody owns, so the first sign-up that may adopts it, with its project,
 * keys and tasks, as its owner. Else sign-up is closed, or opens an organisation of one's own where that is allowed.
 */
export async function signup(ctx: Ctx, input: Signup, mayAdopt: boolean): Promise<SignedIn> {
  // Before the hash, which costs: a closed door should be cheap to knock at.
  await refuseClosed(ctx, mayAdopt)
  const password = await hashPassword(ctx.world, input.password)
  return inTx(ctx, async (tx) => {
    const id = tx.world.newId('mem')
    const orgId = await organisationFor(tx, input, { kind: 'member', id }, mayAdopt)
    const member: Member = {
      id,
      org_id: orgId,
      email: input.email,
      name: input.name ?? null,
      role: 'owner',
      password,
      invite_hash: null,
      invite_expires_at: null,
      created_at: isoNow(tx),
    }
    if (!(await insertMember(tx.db, member))) throw conflict('email is already in use')
    return signIn(tx, member)
  })
}

async function refuseClosed({ db, config }: Pick<Ctx, 'db' | 'config'>, mayAdopt: boolean): Promise<void> {
  if (config.openSignup) return
  if (await isFoundingOwned(db)) throw forbidden('sign-up is closed: ask for an invitation')
  if (mayAdopt) return
  throw forbidden("the first sign-up needs the founder key as bearer, unless it is made on the service's own machine")
}

async function organisationFor(
  tx: Tx,
  { organisation: name }: Signup,
  actor: Actor,
  mayAdopt: boolean,
): Promise<string> {
  const founding = await foundingOrganisation(tx, actor)
  // Again, under the lock: of two first ones, one was.
  await refuseClosed(tx, mayAdopt)
  if (mayAdopt && !(await isFoundingOwned(tx.db))) {
    if (name !== undefined) await renameOrganisation(tx.db, founding.id, name)
    await audit(tx, founding.id, actor, 'organisation.adopted', founding.id)
    return founding.id
  }
  const id = tx.world.newId('org')
  await foundOrganisation(tx, actor, { id, name: name ?? 'default', founding: null })
  return id
}
