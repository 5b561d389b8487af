import { type Language, toLanguage } from '../../../client-text/languages.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { BrandRow, ProjectRow } from '../../platform/store/tables.ts'

export type Brand = Omit<BrandRow, 'language'> & { language: Language }

/** The brand of a project; without one, every field is empty. */
export async function findBrand(db: Db, projectId: string): Promise<Brand> {
  const [row] = await brandOfProject(db, { project_id: projectId })
  return row ? { ...row, language: toLanguage(row.language) } : emptyBrand(projectId)
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

/** The oldest project with this slug: several organisations may have one with the same slug. */
export async function findProjectBySlug(db: Db, slug: string): Promise<Pick<ProjectRow, 'id'> | undefined> {
  return db.selectFrom('projects').select('id').where('slug', '=', slug).orderBy('id').limit(1).executeTakeFirst()
}

/** The only project of the service, if there is one only. */
export async function findOnlyProject(db: Db): Promise<Pick<ProjectRow, 'id'> | undefined> {
  const [project, another] = await db.selectFrom('projects').select('id').orderBy('id').limit(2).execute()
  return another ? undefined : project
}

export const findChannelId = prepareQuery<{ project_id: string; id: string }, { id: string }>((db, arg) =>
  db.selectFrom('channels').select('id').where('id', '=', arg('id')).where('project_id', '=', arg('project_id')),
)
