import { z } from 'zod'
import { notFound } from '../../platform/base/problem.ts'
import { ROLES, type Scope } from '../../platform/ctx/scope.ts'
import { toPage, pageQueryById, pageSchema } from '../../platform/http/page.ts'
import {
  createdResponse,
  type FindInput,
  nameRoutes,
  noContentResponse,
  defineRead,
  writeOrganisation,
} from '../../platform/http/route.ts'
import { bearerToken } from '../authentication/authenticate.ts'
import { emailField, newPasswordField, shortTextField } from './input-fields.ts'
import { inviteMember } from './invites.ts'
import { findMember, listMembers } from '../organisations/member-rows.ts'
import { changeMember, refuseApiKeys, removeMember } from './members.ts'
import { changePassword } from './change-password.ts'
import { InviteView, MemberView, toMemberView } from '../authentication/view.ts'

export const memberRoutes = nameRoutes({
  listMembers: defineRead('/v1/members', {
    summary: 'List members and open invites',
    description: 'Members only: an API key gets 403. An invite that nobody has accepted yet has `status: invited`.',
    query: z.object(pageQueryById('mem')),
    longRead: true,
    responses: { 200: pageSchema(MemberView) },
    find: async ({ scope }) => refuseApiKeys(scope),
    async handle({ ctx, scope, query }) {
      const rows = await listMembers(ctx.db, scope.orgId, query)
      return toPage(rows, query.limit, (row) => row.id, toMemberView)
    },
  }),

  inviteMember: writeOrganisation('POST', '/v1/members', {
    summary: 'Invite a member',
    description: 'The invite is shown only in this response.',
    role: 'admin',
    body: z.object({ email: emailField, role: z.enum(ROLES) }),
    responses: { 201: InviteView },
    find: async ({ scope }) => refuseApiKeys(scope),
    async handle({ ctx, scope, body }) {
      const invited = await inviteMember(ctx, scope, body)
      return createdResponse(`/v1/members/${invited.member.id}`, { ...invited, member: toMemberView(invited.member) })
    },
  }),

  getMember: defineRead('/v1/members/:id', {
    summary: 'Read a member or an open invite',
    description:
      'Members only: an API key gets 403. The id of an open invite stays the id of the member who accepts it.',
    responses: { 200: MemberView },
    find: memberInScope,
    handle: async ({ subject }) => toMemberView(subject),
  }),

  updateMember: writeOrganisation('PUT', '/v1/members/:id', {
    summary: 'Update a member',
    description: 'Changes the name or the role.',
    role: 'admin',
    body: z.object({ name: shortTextField.nullable().optional(), role: z.enum(ROLES).optional() }),
    responses: { 200: MemberView },
    find: memberInScope,
    handle: async ({ ctx, scope, subject, body }) => toMemberView(await changeMember(ctx, scope, subject.id, body)),
  }),

  deleteMember: writeOrganisation('DELETE', '/v1/members/:id', {
    summary: 'Remove a member or revoke an invite',
    description:
      'Members only: an API key gets 403. Ends all sessions of the member at once; what the member did stays in the audit log. 409 for the last owner.',
    role: 'admin',
    responses: { 204: z.null() },
    find: memberInScope,
    async handle({ ctx, scope, subject }) {
      await removeMember(ctx, scope, subject.id)
      return noContentResponse()
    },
  }),

  changePassword: writeOrganisation('POST', '/v1/auth/password', {
    summary: 'Change your password',
    description: 'All other sessions of the member end.',
    role: 'viewer',
    body: z.object({ password: z.string().max(1024), new_password: newPasswordField }),
    responses: { 204: z.null() },
    find: async ({ scope }) => refuseApiKeys(scope),
    async handle({ ctx, scope, body, request }) {
      await changePassword(ctx, scope, { ...body, session: bearerToken(request), address: request.address })
      return noContentResponse()
    },
  }),
})

async function memberInScope({ ctx, scope, params }: FindInput<Scope>) {
  refuseApiKeys(scope)
  const member = await findMember(ctx.db, scope.orgId, params.id ?? '')
  if (!member) throw notFound('member')
  return member
}
