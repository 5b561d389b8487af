import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, forbidden } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { ensureFirstOrganisation, createOrganisation } from '../organisations/first-organisation.ts'
import { hashPassword } from './passwords.ts'
import { insertMember, type Member } from '../organisations/member-rows.ts'
import { hasFirstOrganisationOwner, updateOrganisationName } from '../organisations/organisation-rows.ts'
import { type SignInResult, signInMember } from '../authentication/sessions.ts'

export interface SignupInput {
  email: string
  password: string
  organisation?: string | undefined
  name?: string | undefined
}

/**
 * The first start creates an organisation without an owner. The first permitted sign-up becomes its owner, with its
 * project, keys and tasks. Later sign-ups are refused, or create their own organisation with SVC_OPEN_SIGNUP=1.
 */
export async function signUpMember(ctx: Ctx, input: SignupInput, canClaim: boolean): Promise<SignInResult> {
  // Refuses before the expensive password hash.
  await refuseClosedSignup(ctx, canClaim)
  const password = await hashPassword(ctx.world, input.password)
  return inTx(ctx, async (tx) => {
    const id = tx.world.newId('mem')
    const orgId = await organisationForSignup(tx, input, { kind: 'member', id }, canClaim)
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

async function refuseClosedSignup({ db, config }: Pick<Ctx, 'db' | 'config'>, canClaim: boolean): Promise<void> {
  if (config.openSignup) return
  if (await hasFirstOrganisationOwner(db)) throw forbidden('sign-up is closed: ask for an invitation')
  if (!canClaim) throw forbidden('the first sign-up needs the founder key as bearer token')
}

/** What the sign-in page asks first: whether anybody can sign in with a password yet, and who can sign up. */
export async function readSignupState({ db, config }: Pick<Ctx, 'db' | 'config'>) {
  return { has_owner: await hasFirstOrganisationOwner(db), open: config.openSignup }
}

async function organisationForSignup(
  tx: Tx,
  { organisation: name }: SignupInput,
  actor: Actor,
  canClaim: boolean,
): Promise<string> {
  const first = await ensureFirstOrganisation(tx, actor)
  // Checks again under the lock, because another sign-up may have become the owner meanwhile.
  await refuseClosedSignup(tx, canClaim)
  if (canClaim && !(await hasFirstOrganisationOwner(tx.db))) {
    if (name !== undefined) await updateOrganisationName(tx.db, first.id, name)
    await appendAuditEntry(tx, first.id, actor, 'organisation.adopted', first.id)
    return first.id
  }
  const id = tx.world.newId('org')
  await createOrganisation(tx, actor, { id, name: name ?? 'default', founding: null })
  return id
}
