import { appendAuditEntry, createAuditChain } from '../../audit/append.ts'
import { notFound } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { findProject, insertProject, lockProject, type Project, updateProject } from './project-rows.ts'

export interface ProjectInput {
  name?: string | undefined
  tier?: string | undefined
  wedges?: string[] | null | undefined
}

export async function createProject(ctx: Ctx, scope: Scope, input: ProjectInput & { name: string }): Promise<Project> {
  return inTx(ctx, async (tx) => {
    const project = await insertWithFreeSlug(tx, {
      id: tx.world.newId('prj'),
      org_id: scope.orgId,
      slug: toProjectSlug(input.name),
      name: input.name,
      tier: input.tier ?? 'default',
      wedges: input.wedges ?? null,
      created_at: isoNow(tx),
    })
    await createAuditChain(tx, project.id)
    await appendAuditEntry(tx, scope.orgId, scope.actor, 'project.created', project.id, { slug: project.slug })
    return project
  })
}

/** The slug stays the same, because callers may use it in the x-svc-project header. */
export async function changeProject(ctx: Ctx, scope: Scope, id: string, input: ProjectInput): Promise<Project> {
  return inTx(ctx, (tx) => updateAndAuditProject(tx, scope, id, input))
}

/** Adds the wedge to the project's list, also under concurrent changes; without a list every wedge is enabled. */
export async function enableWedge(ctx: Ctx, scope: Scope, id: string, wedge: string): Promise<Project> {
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, id)
    const project = await findProject(tx.db, id)
    if (!project) throw notFound('project')
    const { wedges } = project
    return wedges === null || wedges.includes(wedge)
      ? project
      : updateAndAuditProject(tx, scope, id, { wedges: [...wedges, wedge] })
  })
}

async function updateAndAuditProject(tx: Tx, scope: Scope, id: string, input: ProjectInput): Promise<Project> {
  const project = await updateProject(tx.db, id, input)
  await appendAuditEntry(tx, id, scope.actor, 'project.updated', id, { tier: project.tier, wedges: project.wedges })
  return project
}

/** Contains no underscore, so that a slug can never look like a project id. */
export function toProjectSlug(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}/gu, '')
      .match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(0, 56).replace(/-$/, '') || 'project'
}

async function insertWithFreeSlug(tx: Tx, project: Project): Promise<Project> {
  const base = project.slug
  for (let n = 2; !(await insertProject(tx.db, project)); n++) project = { ...project, slug: `${base}-${n}` }
  return project
}
