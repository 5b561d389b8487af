import { findProject } from '../../identity/organisations/project-rows.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ProjectRow } from '../../platform/store/tables.ts'
import { type Brand, findBrand, findOnlyProject, findProjectBySlug } from './rows.ts'

export interface PublicBrand {
  brand: Brand
  /** The name of the project in public addresses; null if no project was found. */
  address: string | null
}

/**
 * The brand of the project that a public page names. A page that names none gets the only project of the service. An
 * unknown project has an empty brand, so that nobody can find out which projects exist.
 */
export async function findPublicBrand({ db }: Pick<Ctx, 'db'>, address: string | undefined): Promise<PublicBrand> {
  const project = address === undefined ? await findOnlyProject(db) : await findAddressedProject(db, address)
  if (!project) return { brand: await findBrand(db, ''), address: null }
  return { brand: await findBrand(db, project.id), address: await projectAddress(db, project.id) }
}

/** `.` is not part of a slug. */
const SLUG_WITH_ID = /^[^.]*\.([0-9a-z]{26})$/

/** The project that a public address names: by its slug, by `projectAddress` or by its id. */
async function findAddressedProject(db: Db, address: string): Promise<Pick<ProjectRow, 'id'> | undefined> {
  const [, id] = SLUG_WITH_ID.exec(address) ?? []
  return (await findProjectBySlug(db, address)) ?? findProject(db, id === undefined ? address : `prj_${id}`)
}

/**
 * The name of a project in public addresses: its slug, or slug and id if an older project has the slug. So a new
 * organisation cannot take over the address of another one.
 */
export async function projectAddress(db: Db, projectId: string): Promise<string> {
  const slug = (await findProject(db, projectId))?.slug ?? ''
  const owner = await findProjectBySlug(db, slug)
  return owner?.id === projectId ? slug : `${slug}.${projectId.replace(/^prj_/, '')}`
}
