import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { WedgePolicyRow } from '../../platform/store/tables.ts'

export const findNewestPolicy = prepareQuery<{ project_id: string; wedge: string }, WedgePolicyRow>((db, arg) =>
  db
    .selectFrom('wedge_policies')
    .selectAll()
    .where('project_id', '=', arg('project_id'))
    .where('wedge', '=', arg('wedge'))
    .orderBy('version', 'desc')
    .limit(1),
)

export const listPolicyVersions = (
  db: Db,
  projectId: string,
  wedge: string,
  limit: number,
): Promise<WedgePolicyRow[]> =>
  db
    .selectFrom('wedge_policies')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('wedge', '=', wedge)
    .orderBy('version', 'desc')
    .limit(limit)
    .execute()

export async function insertPolicyVersion(db: Db, row: WedgePolicyRow): Promise<void> {
  await db.insertInto('wedge_policies').values(row).execute()
}
