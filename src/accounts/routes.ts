import { z } from 'zod'
import { notFound } from '../base/problem.ts'
import { slug } from '../base/wedge.ts'
import { ROLES, type Scope } from '../ctx/scope.ts'
import { page, pageById, pageOf } from '../http/page.ts'
import { created, type Finding, inScope, noContent, type Route, read, route, write } from '../http/route.ts'
import { addressOf, bearerOf } from './authenticate.ts'
import { findKey, listKeys as keysOf } from './credential-rows.ts'
import { email, newPassword, shortText } from './fields.ts'
import { inviteMember as invite } from './invites.ts'
import { createKey as makeKey, KEY_ROLES, revokeKey } from './keys.ts'
import { changeMember, refuseKeys, removeMember } from './members.ts'
import { changeProject, createProject as makeProject, enableWedge as enable } from './projects.ts'
import { changePassword } from './own-password.ts'
import { KeyRecord, MemberRecord, ProjectRecord, showKey, showMember, showProject } from './records.ts'
import { findMember, listMembers as membersOf } from './member-rows.ts'
import { findProject, listProjects as projectsOf } from './project-rows.ts'

const idOf = (row: { id: string }) => row.id

// Projects

const ProjectSettings = z.object({
  name: shortText.optional(),
  tier: slug.optional(),
  wedges: z.array(slug).max(1000).nullable().optional(),
})

export const listProjects = read('/v1/projects', {
  summary: 'List the projects in scope',
  query: z.object(pageById('prj')),
  answers: { 200: pageOf(ProjectRecord) },
  async handle({ ctx, scope, query }) {
    const rows = await projectsOf(ctx.db, scope.projectIds, query)
    return page(rows, query.limit, idOf, showProject)
  },
})

export const createProject: Route<Scope> = route('POST', '/v1/projects', {
  summary: 'Create a project',
  role: 'admin',
  level: 'organisation',
  body: ProjectSettings.extend({ name: shortText }),
  answers: { 201: ProjectRecord },
  find: async ({ scope }) => refuseKeys(scope),
  async handle({ ctx, scope, body }) {
    const project = await makeProject(ctx, scope, body)
    return created(`/v1/projects/${project.id}`, showProject(project))
  },
})

export const getProject = read('/v1/projects/:id', {
  summary: 'Read a project',
  answers: { 200: ProjectRecord },
  find: projectInScope,
  handle: async ({ subject }) => showProject(subject),
})

export const updateProject: Route<Scope> = route('PUT', '/v1/projects/:id', {
  summary: 'Change the name, the tier or the enabled wedges of a project',
  role: 'admin',
  level: 'organisation',
  body: ProjectSettings,
  answers: { 200: ProjectRecord },
  find: projectInScope,
  handle: async ({ ctx, scope, subject, body }) => showProject(await changeProject(ctx, scope, subject.id, body)),
})

export const enableWedge: Route<Scope> = route('PUT', '/v1/projects/:id/wedges/:wedge', {
  summary: 'Enable a wedge for a project, beside those that are',
  role: 'admin',
  level: 'organisation',
  answers: { 200: ProjectRecord },
  async find(sought) {
    const project = await projectInScope(sought)
    const wedge = await sought.ctx.wedges.find(sought.params.wedge ?? '')
    if (!wedge) throw notFound('wedge')
    return { id: project.id, wedge: wedge.slug }
  },
  handle: async ({ ctx, scope, subject: { id, wedge } }) => showProject(await enable(ctx, scope, id, wedge)),
})

async function projectInScope({ ctx, scope, params }: Finding<Scope>) {
  const id = params.id ?? ''
  const project = scope.projectIds.includes(id) ? await findProject(ctx.db, id) : undefined
  if (!project) throw notFound('project')
  return project
}

// Keys

const keyInScope = inScope('key', findKey)

export const listKeys = read('/v1/keys', {
  summary: 'List the keys; none is ever shown again',
  query: z.object(pageById('key')),
  answers: { 200: pageOf(KeyRecord) },
  async handle({ ctx, scope, query }) {
    const rows = await keysOf(ctx.db, scope.projectIds, query)
    return page(rows, query.limit, idOf, showKey)
  },
})

export const createKey = write('POST', '/v1/keys', {
  summary: 'Create a key to the project; it is shown only in this answer',
  role: 'admin',
  body: z.object({ name: shortText, role: z.enum(KEY_ROLES).default('admin') }),
  answers: { 201: KeyRecord.extend({ key: z.string() }) },
  async handle({ ctx, scope, body }) {
    const { key, token } = await makeKey(ctx, scope, body)
    return created(`/v1/keys/${key.id}`, { ...showKey(key), key: token })
  },
})

export const getKey = read('/v1/keys/:id', {
  summary: 'Read a key; the token itself is never shown again',
  answers: { 200: KeyRecord },
  find: keyInScope,
  handle: async ({ subject }) => showKey(subject),
})

export const deleteKey = write('DELETE', '/v1/keys/:id', {
  summary: 'Revoke a key at once',
  role: 'admin',
  answers: { 204: z.null() },
  find: keyInScope,
  async handle({ ctx, scope, subject }) {
    await revokeKey(ctx, scope, subject)
    return noContent()
  },
})

// Members

export const listMembers = read('/v1/members', {
  summary: 'List the members of the organisation and the open invitations',
  query: z.object(pageById('mem')),
  answers: { 200: pageOf(MemberRecord) },
  find: async ({ scope }) => refuseKeys(scope),
  async handle({ ctx, scope, query }) {
    const rows = await membersOf(ctx.db, scope.orgId, query)
    return page(rows, query.limit, idOf, showMember)
  },
})

export const inviteMember: Route<Scope> = route('POST', '/v1/members', {
  summary: 'Invite someone; the invite is shown only in this answer',
  role: 'admin',
  level: 'organisation',
  body: z.object({ email, role: z.enum(ROLES) }),
  answers: { 201: z.object({ member: MemberRecord, invite: z.string(), expires_at: z.string() }) },
  find: async ({ scope }) => refuseKeys(scope),
  async handle({ ctx, scope, body }) {
    const invited = await invite(ctx, scope, body)
    return created(`/v1/members/${invited.member.id}`, { ...invited, member: showMember(invited.member) })
  },
})

export const getMember = read('/v1/members/:id', {
  summary: 'Read a member or an open invitation',
  answers: { 200: MemberRecord },
  find: memberInScope,
  handle: async ({ subject }) => showMember(subject),
})

export const updateMember: Route<Scope> = route('PUT', '/v1/members/:id', {
  summary: 'Change the name or the role of a member',
  role: 'admin',
  level: 'organisation',
  body: z.object({ name: shortText.nullable().optional(), role: z.enum(ROLES).optional() }),
  answers: { 200: MemberRecord },
  find: memberInScope,
  handle: async ({ ctx, scope, subject, body }) => showMember(await changeMember(ctx, scope, subject.id, body)),
})

export const deleteMember: Route<Scope> = route('DELETE', '/v1/members/:id', {
  summary: 'Remove a member, or take an invitation back',
  role: 'admin',
  level: 'organisation',
  answers: { 204: z.null() },
  find: memberInScope,
  async handle({ ctx, scope, subject }) {
    await removeMember(ctx, scope, subject.id)
    return noContent()
  },
})

export const changeOwnPassword: Route<Scope> = route('POST', '/v1/auth/password', {
  summary: 'Choose another password; all other sessions of the member end',
  role: 'viewer',
  level: 'organisation',
  body: z.object({ password: z.string().max(1024), new_password: newPassword }),
  answers: { 204: z.null() },
  find: async ({ scope }) => refuseKeys(scope),
  async handle({ ctx, scope, body, request }) {
    await changePassword(ctx, scope, { ...body, session: bearerOf(request), address: addressOf(request) })
    return noContent()
  },
})

async function memberInScope({ ctx, scope, params }: Finding<Scope>) {
  refuseKeys(scope)
  const member = await findMember(ctx.db, scope.orgId, params.id ?? '')
  if (!member) throw notFound('member')
  return member
}
