import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import type { BrandRow, ProjectRow } from '../store/tables.ts'

export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const
/** The language of everything that clients read. */
export type Language = (typeof LANGUAGES)[number]

export type Brand = Omit<BrandRow, 'language'> & { language: Language }

/** The brand of a project; without one, every field is empty. */
export async function findBrand(db: Db, projectId: string): Promise<Brand> {
  const [row] = await brandOfProject(db, { project_id: projectId })
  return row ? { ...row, language: LANGUAGES.find((known) => known === row.language) ?? 'en' } : emptyBrand(projectId)
}

const brandOfProject = prepareQuery<{ project_id: string }, BrandRow>((db, arg) =>
  db.selectFrom('brands').selectAll().where('project_id', '=', arg('project_id')),
)

const emptyBrand = (project_id: string): Brand => ({
  project_id,
  name: null,
  color: null,
  logo_file_id: null,
  favicon_file_id: null,
  welcome: null,
  language: 'en',
  portal_channel_id: null,
  mail_connection_id: null,
  notify_since: null,
  updated_at: '',
})

export async function upsertBrand(db: Db, brand: Brand): Promise<void> {
  const { project_id: _, ...fields } = brand
  await db
    .insertInto('brands')
    .values(brand)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(fields))
    .execute()
}

/**
 * The project that a public address names by slug or id. Several organisations may have a project with the same slug: the
 * oldest one has the address, so that a new organisation cannot take it over.
 */
export async function findAddressedProject(
  db: Db,
  address: string,
): Promise<Pick<ProjectRow, 'id' | 'slug'> | undefined> {
  const projects = db.selectFrom('projects').select(['id', 'slug'])
  const bySlug = await projects.where('slug', '=', address).orderBy('id').limit(1).executeTakeFirst()
  return bySlug ?? projects.where('id', '=', address).executeTakeFirst()
}

/** The only project of the service, if there is one only. */
export async function findOnlyProject(db: Db): Promise<Pick<ProjectRow, 'id' | 'slug'> | undefined> {
  const [project, another] = await db.selectFrom('projects').select(['id', 'slug']).orderBy('id').limit(2).execute()
  return another ? undefined : project
}

export const findChannelId = prepareQuery<{ project_id: string; id: string }, { id: string }>((db, arg) =>
  db.selectFrom('channels').select('id').where('id', '=', arg('id')).where('project_id', '=', arg('project_id')),
)
