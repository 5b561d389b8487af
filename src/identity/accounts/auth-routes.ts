import { z } from 'zod'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { createdResponse, nameRoutes, noContentResponse, openRoute } from '../../platform/http/route.ts'
import { authenticateRequest, bearerToken, canClaimOwnership } from '../authentication/authenticate.ts'
import { findApiKey } from '../authentication/credential-rows.ts'
import { emailField, newPasswordField, shortTextField } from './input-fields.ts'
import { acceptInvite } from './invites.ts'
import { logInWithPassword } from './login.ts'
import { SessionView, SignInResultView, SignupView, toKeyView, toMemberView } from '../authentication/view.ts'
import { findMember } from '../organisations/member-rows.ts'
import { signOutSession, readOrganisationTree } from '../authentication/sessions.ts'
import { readSignupState, signUpMember } from './signup.ts'

/** Routes without authentication; sign-out and session check the bearer token themselves. */
export const authRoutes = nameRoutes({
  signUp: openRoute('POST', '/v1/auth/signup', {
    summary: 'Sign up',
    description:
      'The first account becomes the owner; it needs the founder key as bearer token. Later sign-ups need `SVC_OPEN_SIGNUP`.',
    body: z.object({
      email: emailField,
      password: newPasswordField,
      organisation: shortTextField.optional(),
      name: shortTextField.optional(),
    }),
    responses: { 201: SignInResultView },
    handle: async ({ ctx, body, request }) =>
      createdResponse('/v1/auth/session', await signUpMember(ctx, body, await canClaimOwnership(ctx, request))),
  }),
  getSignup: openRoute('GET', '/v1/auth/signup', {
    summary: 'Read who can sign up',
    description:
      'The sign-in page asks it first: whether the organisation has an owner yet, and whether `SVC_OPEN_SIGNUP` lets strangers sign up.',
    responses: { 200: SignupView },
    handle: ({ ctx }) => readSignupState(ctx),
  }),
  signIn: openRoute('POST', '/v1/auth/login', {
    summary: 'Sign in',
    description:
      'Returns a session token (`svc_fst_…`) for a member. A wrong address and a wrong password give the same 401, and too many failed attempts in 15 minutes a 429.',
    body: z.object({ email: z.string().toLowerCase().max(254), password: z.string().max(1024) }),
    responses: { 200: SignInResultView },
    handle: ({ ctx, body, request }) => logInWithPassword(ctx, { ...body, address: request.address }),
  }),
  signOut: openRoute('POST', '/v1/auth/logout', {
    summary: 'Sign out',
    description:
      'Ends the session whose token is the bearer, and no other session of the member. An API key is not revoked: that is `DELETE /v1/keys/{id}`.',
    responses: { 204: z.null() },
    handle: async ({ ctx, request }) => {
      await signOutSession(ctx, bearerToken(request))
      return noContentResponse()
    },
  }),
  getSession: openRoute('GET', '/v1/auth/session', {
    summary: 'Read the current session',
    description: 'The member or key that the credential belongs to, with its organisation and projects.',
    responses: { 200: SessionView },
    handle: async ({ ctx, request }) => describeBearer(ctx, await authenticateRequest(ctx, request)),
  }),
  acceptInvite: openRoute('POST', '/v1/auth/accept', {
    summary: 'Accept an invite',
    description:
      'The new member chooses a password and is signed in. An invite works once, for seven days; one that is used, replaced or expired gives 401.',
    body: z.object({ invite: z.string().max(200), password: newPasswordField, name: shortTextField.optional() }),
    responses: { 200: SignInResultView },
    handle: ({ ctx, body }) => acceptInvite(ctx, body),
  }),
})

async function describeBearer(ctx: Ctx, scope: Scope) {
  const { actor, role, orgId, projectIds } = scope
  const member = actor.kind === 'member' ? await findMember(ctx.db, orgId, actor.id) : undefined
  const key = actor.kind === 'key' ? await findApiKey(ctx.db, projectIds, actor.id) : undefined
  return {
    member: member ? toMemberView(member) : null,
    key: key ? toKeyView(key) : null,
    ...(await readOrganisationTree(ctx, orgId, projectIds)),
    role,
  }
}
