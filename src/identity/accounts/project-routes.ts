import { z } from 'zod'
import { notFound } from '../../platform/base/problem.ts'
import { slugSchema } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { toPage, pageQueryById, pageSchema } from '../../platform/http/page.ts'
import {
  createdResponse,
  type FindInput,
  nameRoutes,
  defineRead,
  writeOrganisation,
} from '../../platform/http/route.ts'
import { shortTextField } from './input-fields.ts'
import { refuseApiKeys } from './members.ts'
import { findProject, listProjects, type Project } from '../organisations/project-rows.ts'
import { changeProject, createProject, enableWedge } from '../organisations/projects.ts'
import { readStorageUsage } from '../limits/storage-usage.ts'
import { ProjectDetailView, ProjectView, toProjectView } from '../authentication/view.ts'

const ProjectSettings = z.object({
  name: shortTextField.optional(),
  tier: slugSchema.optional(),
  wedges: z.array(slugSchema).max(1000).nullable().optional(),
})

export const projectRoutes = nameRoutes({
  listProjects: defineRead('/v1/projects', {
    summary: 'List projects',
    description:
      'A member sees all projects of the organisation, a key only its own. With the header `X-SVC-Project` the list has only that project.',
    query: z.object(pageQueryById('prj')),
    longRead: true,
    responses: { 200: pageSchema(ProjectView) },
    async handle({ ctx, scope, query }) {
      const rows = await listProjects(ctx.db, scope.projectIds, query)
      return toPage(rows, query.limit, (row) => row.id, toProjectView)
    },
  }),

  createProject: writeOrganisation('POST', '/v1/projects', {
    summary: 'Create a project',
    description:
      'Members only: an API key gets 403. Without `wedges` all wedges are enabled, including future ones. The slug is made from the name and never changes.',
    role: 'admin',
    body: ProjectSettings.extend({ name: shortTextField }),
    responses: { 201: ProjectDetailView },
    find: async ({ scope }) => refuseApiKeys(scope),
    async handle({ ctx, scope, body }) {
      const project = await createProject(ctx, scope, body)
      return createdResponse(`/v1/projects/${project.id}`, await toProjectDetail(ctx, project))
    },
  }),

  getProject: defineRead('/v1/projects/:id', {
    summary: 'Read a project',
    description:
      'With its enabled wedges, its tier of models, and how much it stores of how much it may. A key can read only its own project.',
    responses: { 200: ProjectDetailView },
    find: projectInScope,
    handle: ({ ctx, subject }) => toProjectDetail(ctx, subject),
  }),

  updateProject: writeOrganisation('PUT', '/v1/projects/:id', {
    summary: 'Update a project',
    description:
      'Fields that are left out keep their value. `wedges` replaces the whole list; null enables all, including future ones. A new name does not change the slug.',
    role: 'admin',
    body: ProjectSettings,
    responses: { 200: ProjectDetailView },
    find: projectInScope,
    handle: async ({ ctx, scope, subject, body }) =>
      toProjectDetail(ctx, await changeProject(ctx, scope, subject.id, body)),
  }),

  updateProjectWedge: writeOrganisation('PUT', '/v1/projects/:id/wedges/:wedge', {
    summary: 'Enable a wedge for a project',
    description:
      'Adds the wedge to the list of the project and changes nothing else. A project without a list has all wedges enabled already. Has no body.',
    role: 'admin',
    responses: { 200: ProjectDetailView },
    async find(sought) {
      const project = await projectInScope(sought)
      const wedge = await sought.ctx.wedges.find(sought.params.wedge ?? '')
      if (!wedge) throw notFound('wedge')
      return { id: project.id, wedge: wedge.slug }
    },
    handle: async ({ ctx, scope, subject: { id, wedge } }) =>
      toProjectDetail(ctx, await enableWedge(ctx, scope, id, wedge)),
  }),
})

async function toProjectDetail(ctx: Ctx, project: Project) {
  return { ...toProjectView(project), ...(await readStorageUsage(ctx, project.id)) }
}

async function projectInScope({ ctx, scope, params }: FindInput<Scope>) {
  const id = params.id ?? ''
  const project = scope.projectIds.includes(id) ? await findProject(ctx.db, id) : undefined
  if (!project) throw notFound('project')
  return project
}
