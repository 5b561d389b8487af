import { appendAuditEntry } from '../audit/append.ts'
import { conflict, forbidden } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { ensureFirstOrganisation, createOrganisation } from './first-organisation.ts'
import { hashPassword } from './passwords.ts'
import { insertMember, type Member } from './member-rows.ts'
import { hasFirstOrganisationOwner, updateOrganisationName } from './organisation-rows.ts'
import { type SignInResult, signInMember } from './sessions.ts'

export interface SignupInput {
  email: string
  password: string
  organisation?: string | undefined
  name?: string | undefined
}

/**
 * The first start makes an organisation that nobody owns, so the first sign-up that may adopts it, with its project,
 * keys and tasks, as its owner. Else sign-up is closed, or opens an organisation of one's own where that is allowed.
 */
export async function signUpMember(ctx: Ctx, input: SignupInput, mayAdopt: boolean): Promise<SignInResult> {
  // Before the hash, which costs: a closed door should be cheap to knock at.
  await refuseClosedSignup(ctx, mayAdopt)
  const password = await hashPassword(ctx.world, input.password)
  return inTx(ctx, async (tx) => {
    const id = tx.world.newId('mem')
    const orgId = await organisationForSignup(tx, input, { kind: 'member', id }, mayAdopt)
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
    return signInMember(tx, member)
  })
}

async function refuseClosedSignup({ db, config }: Pick<Ctx, 'db' | 'config'>, mayAdopt: boolean): Promise<void> {
  if (config.openSignup) return
  if (await hasFirstOrganisationOwner(db)) throw forbidden('sign-up is closed: ask for an invitation')
  if (mayAdopt) return
  throw forbidden("the first sign-up needs the founder key as bearer, unless it is made on the service's own machine")
}

async function organisationForSignup(
  tx: Tx,
  { organisation: name }: SignupInput,
  actor: Actor,
  mayAdopt: boolean,
): Promise<string> {
  const founding = await ensureFirstOrganisation(tx, actor)
  // Again, under the lock: of two first ones, one was.
  await refuseClosedSignup(tx, mayAdopt)
  if (mayAdopt && !(await hasFirstOrganisationOwner(tx.db))) {
    if (name !== undefined) await updateOrganisationName(tx.db, founding.id, name)
    await appendAuditEntry(tx, founding.id, actor, 'organisation.adopted', founding.id)
    return founding.id
  }
  const id = tx.world.newId('org')
  await createOrganisation(tx, actor, { id, name: name ?? 'default', founding: null })
  return id
}
