import { z } from 'zod'
import { notFound } from '../base/problem.ts'
import { ROLES, type Scope } from '../ctx/scope.ts'
import { page, pageById, pageOf } from '../http/page.ts'
import { created, type Finding, nameRoutes, noContent, read, writeOrganisation } from '../http/route.ts'
import { addressOf, bearerOf } from './authenticate.ts'
import { email, newPassword, shortText } from './fields.ts'
import { inviteMember } from './invites.ts'
import { findMember, listMembers } from './member-rows.ts'
import { changeMember, refuseKeys, removeMember } from './members.ts'
import { changePassword } from './own-password.ts'
import { MemberRecord, showMember } from './records.ts'

export const memberRoutes = nameRoutes({
  listMembers: read('/v1/members', {
    summary: 'List the members of the organisation and the open invitations',
    query: z.object(pageById('mem')),
    answers: { 200: pageOf(MemberRecord) },
    find: async ({ scope }) => refuseKeys(scope),
    async handle({ ctx, scope, query }) {
      const rows = await listMembers(ctx.db, scope.orgId, query)
      return page(rows, query.limit, (row) => row.id, showMember)
    },
  }),

  inviteMember: writeOrganisation('POST', '/v1/members', {
    summary: 'Invite someone; the invite is shown only in this answer',
    role: 'admin',
    body: z.object({ email, role: z.enum(ROLES) }),
    answers: { 201: z.object({ member: MemberRecord, invite: z.string(), expires_at: z.string() }) },
    find: async ({ scope }) => refuseKeys(scope),
    async handle({ ctx, scope, body }) {
      const invited = await inviteMember(ctx, scope, body)
      return created(`/v1/members/${invited.member.id}`, { ...invited, member: showMember(invited.member) })
    },
  }),

  getMember: read('/v1/members/:id', {
    summary: 'Read a member or an open invitation',
    answers: { 200: MemberRecord },
    find: memberInScope,
    handle: async ({ subject }) => showMember(subject),
  }),

  updateMember: writeOrganisation('PUT', '/v1/members/:id', {
    summary: 'Change the name or the role of a member',
    role: 'admin',
    body: z.object({ name: shortText.nullable().optional(), role: z.enum(ROLES).optional() }),
    answers: { 200: MemberRecord },
    find: memberInScope,
    handle: async ({ ctx, scope, subject, body }) => showMember(await changeMember(ctx, scope, subject.id, body)),
  }),

  deleteMember: writeOrganisation('DELETE', '/v1/members/:id', {
    summary: 'Remove a member, or take an invitation back',
    role: 'admin',
    answers: { 204: z.null() },
    find: memberInScope,
    async handle({ ctx, scope, subject }) {
      await removeMember(ctx, scope, subject.id)
      return noContent()
    },
  }),

  changePassword: writeOrganisation('POST', '/v1/auth/password', {
    summary: 'Choose another password; all other sessions of the member end',
    role: 'viewer',
    body: z.object({ password: z.string().max(1024), new_password: newPassword }),
    answers: { 204: z.null() },
    find: async ({ scope }) => refuseKeys(scope),
    async handle({ ctx, scope, body, request }) {
      await changePassword(ctx, scope, { ...body, session: bearerOf(request), address: addressOf(request) })
      return noContent()
    },
  }),
})

async function memberInScope({ ctx, scope, params }: Finding<Scope>) {
  refuseKeys(scope)
  const member = await findMember(ctx.db, scope.orgId, params.id ?? '')
  if (!member) throw notFound('member')
  return member
}
