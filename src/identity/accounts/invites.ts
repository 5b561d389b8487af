import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, unauthorized } from '../../platform/base/problem.ts'
import { newToken, tokenHash } from '../../platform/base/tokens.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Role, Scope } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { requireOwnerForOwnerRole } from './members.ts'
import { hashPassword } from './passwords.ts'
import {
  findInvitedMember,
  findMemberByEmail,
  findOpenInvite,
  insertMember,
  type Member,
  updateOpenInvite,
  updateInviteAsAccepted,
} from '../organisations/member-rows.ts'
import { lockFirstOrganisation, lockOrganisation } from '../organisations/organisation-rows.ts'
import { type SignInResult, signInMember } from '../authentication/sessions.ts'

const INVITE_LIFETIME_MS = 7 * 24 * 60 * 60_000

export interface MemberInvite {
  member: Member
  /** The invite token. Only its hash is stored. */
  invite: string
  expires_at: string
}

/** Replaces an open invite to the same email. */
export async function inviteMember(
  ctx: Ctx,
  scope: Scope,
  { email, role }: { email: string; role: Role },
): Promise<MemberInvite> {
  const invite = newToken('invite', ctx.world.random)
  const expires_at = toIsoTime(ctx.world.clock.now() + INVITE_LIFETIME_MS)
  const member = await inTx(ctx, async (tx) => {
    requireOwnerForOwnerRole(scope, role)
    if (await findMemberByEmail(tx.db, email)) throw emailInUse()
    const invited = { email, role, invite_hash: tokenHash(invite), invite_expires_at: expires_at }
    const member = (await insertInvitedMember(tx, scope, invited)) ?? (await replaceOpenInvite(tx, scope, invited))
    await appendAuditEntry(tx, scope.orgId, scope.actor, 'member.invited', member.id, { email, role })
    return member
  })
  return { member, invite, expires_at }
}

/**
 * An unknown, used, replaced or expired invite is a 401. An open invite does not reserve its email, so another member may
 * have it by now.
 */
export async function acceptInvite(
  ctx: Ctx,
  input: { invite: string; password: string; name?: string | undefined },
): Promise<SignInResult> {
  const hash = tokenHash(input.invite)
  const now = isoNow(ctx)
  if (!(await findInvitedMember(ctx.db, hash, now))) throw unauthorized()
  const password = await hashPassword(ctx.world, input.password)
  return inTx(ctx, async (tx) => {
    // The same lock as for a sign-up, so that concurrent requests with one email run one after the other.
    await lockFirstOrganisation(tx.db)
    const invited = await findInvitedMember(tx.db, hash, now)
    if (invited && (await findMemberByEmail(tx.db, invited.email))) throw emailInUse()
    const member = await updateInviteAsAccepted(tx.db, hash, now, { password, name: input.name })
    if (!member) throw unauthorized()
    await appendAuditEntry(tx, member.org_id, { kind: 'member', id: member.id }, 'member.accepted', member.id)
    return signInMember(tx, member)
  })
}

type OpenInvite = Pick<Member, 'email' | 'role' | 'invite_hash' | 'invite_expires_at'>

async function insertInvitedMember(tx: Tx, scope: Scope, open: OpenInvite): Promise<Member | null> {
  const member: Member = {
    ...open,
    id: tx.world.newId('mem'),
    org_id: scope.orgId,
    name: null,
    password: null,
    created_at: isoNow(tx),
  }
  return (await insertMember(tx.db, member)) ? member : null
}

async function replaceOpenInvite(tx: Tx, scope: Scope, { email, ...open }: OpenInvite): Promise<Member> {
  await lockOrganisation(tx.db, scope.orgId)
  const member = await findOpenInvite(tx.db, scope.orgId, email)
  if (!member) throw emailInUse()
  requireOwnerForOwnerRole(scope, member.role)
  const invited = await updateOpenInvite(tx.db, member.id, open)
  if (!invited) throw emailInUse()
  return invited
}

const emailInUse = () => conflict('email is already in use')
