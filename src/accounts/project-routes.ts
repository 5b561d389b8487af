import { z } from 'zod'
import { notFound } from '../base/problem.ts'
import { slug } from '../base/wedge.ts'
import type { Scope } from '../ctx/scope.ts'
import { page, pageById, pageOf } from '../http/page.ts'
import { created, type Finding, nameRoutes, read, writeOrganisation } from '../http/route.ts'
import { shortText } from './fields.ts'
import { refuseKeys } from './members.ts'
import { findProject, listProjects } from './project-rows.ts'
import { changeProject, createProject, enableWedge } from './projects.ts'
import { ProjectRecord, showProject } from './records.ts'

const ProjectSettings = z.object({
  name: shortText.optional(),
  tier: slug.optional(),
  wedges: z.array(slug).max(1000).nullable().optional(),
})

export const projectRoutes = nameRoutes({
  listProjects: read('/v1/projects', {
    summary: 'List the projects in scope',
    query: z.object(pageById('prj')),
    answers: { 200: pageOf(ProjectRecord) },
    async handle({ ctx, scope, query }) {
      const rows = await listProjects(ctx.db, scope.projectIds, query)
      return page(rows, query.limit, (row) => row.id, showProject)
    },
  }),

  createProject: writeOrganisation('POST', '/v1/projects', {
    summary: 'Create a project',
    role: 'admin',
    body: ProjectSettings.extend({ name: shortText }),
    answers: { 201: ProjectRecord },
    find: async ({ scope }) => refuseKeys(scope),
    async handle({ ctx, scope, body }) {
      const project = await createProject(ctx, scope, body)
      return created(`/v1/projects/${project.id}`, showProject(project))
    },
  }),

  getProject: read('/v1/projects/:id', {
    summary: 'Read a project',
    answers: { 200: ProjectRecord },
    find: projectInScope,
    handle: async ({ subject }) => showProject(subject),
  }),

  updateProject: writeOrganisation('PUT', '/v1/projects/:id', {
    summary: 'Change the name, the tier or the enabled wedges of a project',
    role: 'admin',
    body: ProjectSettings,
    answers: { 200: ProjectRecord },
    find: projectInScope,
    handle: async ({ ctx, scope, subject, body }) => showProject(await changeProject(ctx, scope, subject.id, body)),
  }),

  updateProjectWedge: writeOrganisation('PUT', '/v1/projects/:id/wedges/:wedge', {
    summary: 'Enable a wedge for a project, beside those that are',
    role: 'admin',
    answers: { 200: ProjectRecord },
    async find(sought) {
      const project = await projectInScope(sought)
      const wedge = await sought.ctx.wedges.find(sought.params.wedge ?? '')
      if (!wedge) throw notFound('wedge')
      return { id: project.id, wedge: wedge.slug }
    },
    handle: async ({ ctx, scope, subject: { id, wedge } }) => showProject(await enableWedge(ctx, scope, id, wedge)),
  }),
})

async function projectInScope({ ctx, scope, params }: Finding<Scope>) {
  const id = params.id ?? ''
  const project = scope.projectIds.includes(id) ? await findProject(ctx.db, id) : undefined
  if (!project) throw notFound('project')
  return project
}
