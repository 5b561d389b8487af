import { findProject } from '../accounts/project-rows.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Db } from '../store/store.ts'
import { type Brand, findAddressedProject, findBrand, findOnlyProject } from './rows.ts'

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

/** The name of a project in public addresses: its slug, or its id if an older project has the slug. */
export async function projectAddress(db: Db, projectId: string): Promise<string> {
  const slug = (await findProject(db, projectId))?.slug
  const owner = slug === undefined ? undefined : await findAddressedProject(db, slug)
  return slug !== undefined && owner?.id === projectId ? slug : projectId
}
