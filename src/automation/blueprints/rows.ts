import type { Db } from '../../platform/store/store.ts'
import type { BlueprintInstallRow, ScheduleRow } from '../../platform/store/tables.ts'

export function listInstalls(db: Db, projectIds: readonly string[]): Promise<BlueprintInstallRow[]> {
  return db.selectFrom('blueprint_installs').selectAll().where('project_id', 'in', projectIds).execute()
}

export function findInstall(db: Db, projectId: string, blueprint: string): Promise<BlueprintInstallRow | undefined> {
  return db
    .selectFrom('blueprint_installs')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('blueprint', '=', blueprint)
    .executeTakeFirst()
}

/** Does nothing if the install exists. */
export async function insertInstall(db: Db, install: BlueprintInstallRow): Promise<void> {
  await db
    .insertInto('blueprint_installs')
    .values(install)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** False if the blueprint was never provisioned. */
export async function updateInstallActive(db: Db, projectId: string, blueprint: string, at: string): Promise<boolean> {
  const changed = await db
    .updateTable('blueprint_installs')
    .set({ active: 1, activated_at: at })
    .where('project_id', '=', projectId)
    .where('blueprint', '=', blueprint)
    .returning('blueprint')
    .executeTakeFirst()
  return changed !== undefined
}

/** The schedules of a wedge by name; if several have the same name, the oldest. */
export async function listSchedulesByName(
  db: Db,
  projectId: string,
  wedge: string,
  names: readonly string[],
): Promise<Map<string, ScheduleRow>> {
  if (names.length === 0) return new Map()
  const rows = await db
    .selectFrom('schedules')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('wedge', '=', wedge)
    .where('name', 'in', names)
    .orderBy('id', 'desc')
    .execute()
  return new Map(rows.map((row) => [row.name, row]))
}
