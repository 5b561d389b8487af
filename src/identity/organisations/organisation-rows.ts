import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { OrganisationRow } from '../../platform/store/tables.ts'

/** False when this is the first organisation and it exists already. */
export async function insertOrganisation(db: Db, row: OrganisationRow): Promise<boolean> {
  const query = db
    .insertInto('organisations')
    .values(row)
    .onConflict((conflict) => conflict.column('founding').doNothing())
  return (await query.returning('id').execute()).length > 0
}

/** The organisation that the first start created, locked until the commit. */
export function lockFirstOrganisation(db: Db): Promise<OrganisationRow> {
  return db
    .updateTable('organisations')
    .set({ founding: 1 })
    .where('founding', '=', 1)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Members of an organisation change under this lock, so that it never loses its last owner. */
export async function lockOrganisation(db: Db, orgId: string): Promise<void> {
  await db
    .updateTable('organisations')
    .set((eb) => ({ name: eb.ref('name') }))
    .where('id', '=', orgId)
    .execute()
}

export async function updateOrganisationName(db: Db, orgId: string, name: string): Promise<void> {
  await db.updateTable('organisations').set({ name }).where('id', '=', orgId).execute()
}

export function findOrganisation(db: Db, orgId: string): Promise<OrganisationRow> {
  return db.selectFrom('organisations').selectAll().where('id', '=', orgId).executeTakeFirstOrThrow()
}

/** Whether the first organisation has a member. */
export async function hasFirstOrganisationOwner(db: Db): Promise<boolean> {
  const owner = await db
    .selectFrom('members')
    .innerJoin('organisations', 'organisations.id', 'members.org_id')
    .select('members.id')
    .where('organisations.founding', '=', 1)
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

/** Whether the project belongs to the operator's own organisation, which the first start created. */
export async function isInFirstOrganisation(db: Db, projectId: string): Promise<boolean> {
  const [found] = await firstOrganisationFlag(db, { projectId })
  return found?.founding === 1
}

const firstOrganisationFlag = prepareQuery<{ projectId: string }, Pick<OrganisationRow, 'founding'>>((db, arg) =>
  db
    .selectFrom('projects')
    .innerJoin('organisations', 'organisations.id', 'projects.org_id')
    .select('organisations.founding')
    .where('projects.id', '=', arg('projectId')),
)
