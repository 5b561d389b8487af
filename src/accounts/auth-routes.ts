import { z } from 'zod'
import type { Ctx } from '../ctx/ctx.ts'
import { ROLES, type Scope } from '../ctx/scope.ts'
import { created, nameRoutes, noContent, openRoute } from '../http/route.ts'
import { mayAdopt } from './adoption.ts'
import { addressOf, authenticate, bearerOf } from './authenticate.ts'
import { findKey } from './credential-rows.ts'
import { email, newPassword, shortText } from './fields.ts'
import { acceptInvite } from './invites.ts'
import { login } from './login.ts'
import { KeyRecord, MemberRecord, OrganisationRecord, ProjectRecord, showKey, showMember } from './records.ts'
import { findMember } from './member-rows.ts'
import { signOut, treeOf } from './sessions.ts'
import { signup } from './signup.ts'

const SignedInRecord = z.object({
  session_token: z.string(),
  expires_at: z.string(),
  member: MemberRecord,
  organisation: OrganisationRecord,
  projects: z.array(ProjectRecord),
})

/** Open routes: those that need a credential look at it themselves. */
export const authRoutes = nameRoutes({
  signUp: openRoute('POST', '/v1/auth/signup', {
    summary: 'Sign up: the first becomes the owner, on the machine itself or with the founder key; then it is closed',
    body: z.object({ email, password: newPassword, organisation: shortText.optional(), name: shortText.optional() }),
    answers: { 201: SignedInRecord },
    handle: async ({ ctx, body, request }) =>
      created('/v1/auth/session', await signup(ctx, body, await mayAdopt(ctx, request))),
  }),
  signIn: openRoute('POST', '/v1/auth/login', {
    summary: 'Sign in',
    body: z.object({ email: z.string().toLowerCase().max(254), password: z.string().max(1024) }),
    answers: { 200: SignedInRecord },
    handle: ({ ctx, body, request }) => login(ctx, { ...body, address: addressOf(request) }),
  }),
  signOut: openRoute('POST', '/v1/auth/logout', {
    summary: 'End the session that the bearer is',
    answers: { 204: z.null() },
    handle: async ({ ctx, request }) => {
      await signOut(ctx, bearerOf(request))
      return noContent()
    },
  }),
  getSession: openRoute('GET', '/v1/auth/session', {
    summary: 'Who the bearer is',
    answers: {
      200: z.object({
        member: MemberRecord.nullable(),
        key: KeyRecord.nullable(),
        organisation: OrganisationRecord,
        projects: z.array(ProjectRecord),
        role: z.enum(ROLES),
      }),
    },
    handle: async ({ ctx, request }) => whoIs(ctx, await authenticate(ctx, request)),
  }),
  acceptInvite: openRoute('POST', '/v1/auth/accept', {
    summary: 'Accept an invite and choose a password',
    body: z.object({ invite: z.string().max(200), password: newPassword, name: shortText.optional() }),
    answers: { 200: SignedInRecord },
    handle: ({ ctx, body }) => acceptInvite(ctx, body),
  }),
})

async function whoIs(ctx: Ctx, scope: Scope) {
  const { actor, role, orgId, projectIds } = scope
  const member = actor.kind === 'member' ? await findMember(ctx.db, orgId, actor.id) : undefined
  const key = actor.kind === 'key' ? await findKey(ctx.db, projectIds, actor.id) : undefined
  return {
    member: member ? showMember(member) : null,
    key: key ? showKey(key) : null,
    ...(await treeOf(ctx, orgId, projectIds)),
    role,
  }
}
