import { appendAuditEntry } from '../../audit/append.ts'
import { unauthorized } from '../../platform/base/problem.ts'
import { newToken, tokenHash } from '../../platform/base/tokens.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { deleteSession, insertSession, updateSessionExpiry } from './credential-rows.ts'
import { findCredential, parseFounderToken } from './find-credential.ts'
import type { Member } from '../organisations/member-rows.ts'
import { findOrganisation } from '../organisations/organisation-rows.ts'
import { listOrganisationProjects } from '../organisations/project-rows.ts'
import { toMemberView, toOrganisationView, toProjectView } from './view.ts'

const DAY_MS = 24 * 60 * 60_000
const SESSION_LIFETIME_MS = 30 * DAY_MS

/** The response of sign-up, sign-in and accepting an invite. */
export type SignInResult = Awaited<ReturnType<typeof signInMember>>

export async function signInMember(tx: Tx, member: Member) {
  const now = tx.world.clock.now()
  const token = newToken('founderSession', tx.world.random)
  const expires_at = toIsoTime(now + SESSION_LIFETIME_MS)
  await insertSession(tx.db, { hash: tokenHash(token), member_id: member.id, created_at: toIsoTime(now), expires_at })
  const tree = await readOrganisationTree(tx, member.org_id)
  await appendAuditEntry(tx, member.org_id, { kind: 'member', id: member.id }, 'member.signed_in', member.id)
  return { session_token: token, expires_at, member: toMemberView(member), ...tree }
}

/** The organisation with its projects; only those in `visibleIds` if it is given. */
export async function readOrganisationTree({ db }: Pick<Ctx, 'db'>, orgId: string, visibleIds?: readonly string[]) {
  const projects = await listOrganisationProjects(db, orgId)
  return {
    organisation: toOrganisationView(await findOrganisation(db, orgId)),
    projects: projects.filter(({ id }) => !visibleIds || visibleIds.includes(id)).map(toProjectView),
  }
}

export async function signOutSession(ctx: Ctx, token: string): Promise<void> {
  const session = parseFounderToken(token)
  if (session?.kind !== 'session') throw unauthorized()
  await inTx(ctx, async (tx) => {
    const credential = await findCredential(tx, session)
    if (credential?.kind !== 'session' || !(await deleteSession(tx.db, credential.hash))) throw unauthorized()
    const { member, hash } = credential
    tx.publishAfterCommit({ topic: 'session-ended', id: hash })
    await appendAuditEntry(tx, member.org_id, { kind: 'member', id: member.id }, 'member.signed_out', member.id)
  })
}

/** Extends a session that is in use, in the background and at most once a day. */
export function extendSessionIfDue(ctx: Ctx, hash: string, expiresAt: string): void {
  const now = ctx.world.clock.now()
  if (expiresAt > toIsoTime(now + SESSION_LIFETIME_MS - DAY_MS)) return
  inTx(ctx, (tx) => updateSessionExpiry(tx.db, hash, toIsoTime(now + SESSION_LIFETIME_MS))).catch((error) =>
    ctx.world.log.warn({ err: error }, 'session was not extended'),
  )
}
