import { unauthorized } from '../base/problem.ts'
import { newToken, TOKEN_PREFIX, tokenHash } from '../base/tokens.ts'
import { audit } from '../audit/append.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import { deleteSession, extendSession, insertSession, memberBySession } from './credential-rows.ts'
import { showMember, showOrganisation, showProject } from './records.ts'
import { sessionBell } from './revoked-bells.ts'
import type { Member } from './member-rows.ts'
import { findOrganisation } from './organisation-rows.ts'
import { allProjects } from './project-rows.ts'

const DAY_MS = 24 * 60 * 60_000
const SESSION_MS = 30 * DAY_MS

/** What signup, login and accept answer. */
export type SignedIn = Awaited<ReturnType<typeof signIn>>

export async function signIn(tx: Tx, member: Member) {
  const now = tx.world.clock.now()
  const token = newToken('founderSession', tx.world.random)
  const expires_at = isoTime(now + SESSION_MS)
  await insertSession(tx.db, { hash: tokenHash(token), member_id: member.id, created_at: isoTime(now), expires_at })
  const tree = await treeOf(tx, member.org_id)
  await audit(tx, member.org_id, { kind: 'member', id: member.id }, 'member.signed_in', member.id)
  return { session_token: token, expires_at, member: showMember(member), ...tree }
}

/** The organisation with its projects, as far as they are seen. */
export async function treeOf({ db }: Pick<Ctx, 'db'>, orgId: string, seen?: readonly string[]) {
  const projects = await allProjects(db, orgId)
  return {
    organisation: showOrganisation(await findOrganisation(db, orgId)),
    projects: projects.filter(({ id }) => !seen || seen.includes(id)).map(showProject),
  }
}

export async function signOut(ctx: Ctx, token: string): Promise<void> {
  if (!token.startsWith(TOKEN_PREFIX.founderSession)) throw unauthorized()
  const hash = tokenHash(token)
  await inTx(ctx, async (tx) => {
    const [member] = await memberBySession(tx.db, { hash, now: isoNow(tx) })
    if (!member || !(await deleteSession(tx.db, hash))) throw unauthorized()
    tx.ring(sessionBell(hash))
    await audit(tx, member.org_id, { kind: 'member', id: member.id }, 'member.signed_out', member.id)
  })
}

/** A session that is used stays: beside the request, and once a day at most. */
export function slideSession(ctx: Ctx, hash: string, expiresAt: string): void {
  const now = ctx.world.clock.now()
  if (expiresAt > isoTime(now + SESSION_MS - DAY_MS)) return
  inTx(ctx, (tx) => extendSession(tx.db, hash, isoTime(now + SESSION_MS))).catch((error) =>
    ctx.world.log.warn({ err: error }, 'session not extended'),
  )
}
