import type { ProjectAllowance } from '../../platform/ctx/scope.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'

/** The enabled wedges of each project; null means all. */
export async function listEnabledWedges(db: Db, projectIds: readonly string[]): Promise<(string[] | null)[]> {
  if (projectIds.length === 0) return []
  const rows = await db.selectFrom('projects').select('wedges').where('id', 'in', projectIds).execute()
  return rows.map(({ wedges }) => parseWedgeList(wedges))
}

/** The enabled wedges and the model tier of a project; a deleted project may use nothing. */
export async function findProjectAllowance(db: Db, projectId: string): Promise<ProjectAllowance> {
  const [row] = await projectAllowance(db, { projectId })
  return row ?? { wedges: '[]', tier: '' }
}

const projectAllowance = prepareQuery<{ projectId: string }, ProjectAllowance>((db, arg) =>
  db.selectFrom('projects').select(['wedges', 'tier']).where('id', '=', arg('projectId')),
)

/** Parses a stored list of wedges; null means all. */
export function parseWedgeList(wedges: string | null): string[] | null {
  return wedges === null ? null : JSON.parse(wedges)
}
