import type { PageQuery } from '../../platform/http/page.ts'
import { listNewestPage } from '../../platform/store/newest-page.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ProjectRow } from '../../platform/store/tables.ts'

export type Project = Omit<ProjectRow, 'wedges'> & { wedges: string[] | null }

/** False when the organisation has a project with this slug. */
export async function insertProject(db: Db, row: Project): Promise<boolean> {
  const query = db
    .insertInto('projects')
    .values({ ...row, wedges: row.wedges && JSON.stringify(row.wedges) })
    .onConflict((conflict) => conflict.columns(['org_id', 'slug']).doNothing())
  return (await query.returning('id').execute()).length > 0
}

/**
 * Locks the project until the commit. Take it before a check that an insert depends on, such as a unique name or a
 * limit, so that concurrent transactions run one after the other.
 */
export async function lockProject(db: Db, projectId: string): Promise<void> {
  await db
    .updateTable('projects')
    .set((eb) => ({ slug: eb.ref('slug') }))
    .where('id', '=', projectId)
    .execute()
}

/** Undefined fields stay unchanged. */
export async function updateProject(
  db: Db,
  id: string,
  { name, tier, wedges }: { [Field in 'name' | 'tier' | 'wedges']?: Project[Field] | undefined },
): Promise<Project> {
  const query = db
    .updateTable('projects')
    .set({ id, name, tier, wedges: wedges && JSON.stringify(wedges) })
    .where('id', '=', id)
  return toProject(await query.returningAll().executeTakeFirstOrThrow())
}

const projectById = prepareQuery<{ id: string }, ProjectRow>((db, arg) =>
  db.selectFrom('projects').selectAll().where('id', '=', arg('id')),
)

/** Newest first. */
export async function listOrganisationProjects(db: Db, orgId: string): Promise<Project[]> {
  const query = db.selectFrom('projects').selectAll().where('org_id', '=', orgId).orderBy('id', 'desc')
  return (await query.execute()).map(toProject)
}

/** The caller has checked that the id is in scope. */
export async function findProject(db: Db, id: string): Promise<Project | undefined> {
  const [row] = await projectById(db, { id })
  return row && toProject(row)
}

export async function findFirstProject(db: Db, orgId: string): Promise<Project> {
  const query = db.selectFrom('projects').selectAll().where('org_id', '=', orgId)
  return toProject(await query.orderBy('created_at').orderBy('id').limit(1).executeTakeFirstOrThrow())
}

export async function listProjects(db: Db, ids: readonly string[], page: PageQuery): Promise<Project[]> {
  const query = db.selectFrom('projects').selectAll().where('id', 'in', ids)
  const rows = await listNewestPage(query, page)
  return rows.map(toProject)
}

export const listProjectSlugs = prepareQuery<{ org_id: string }, Pick<ProjectRow, 'id' | 'slug'>>((db, arg) =>
  db.selectFrom('projects').select(['id', 'slug']).where('org_id', '=', arg('org_id')).orderBy('id'),
)

function toProject(row: ProjectRow): Project {
  const wedges: string[] | null = row.wedges === null ? null : JSON.parse(row.wedges)
  return { ...row, wedges }
}
