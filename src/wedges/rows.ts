import type { Allowance } from '../ctx/scope.ts'
import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'

/** Which wedges each of the projects may use; null: all. */
export async function enabledWedges(db: Db, projectIds: readonly string[]): Promise<(string[] | null)[]> {
  if (projectIds.length === 0) return []
  const rows = await db.selectFrom('projects').select('wedges').where('id', 'in', projectIds).execute()
  return rows.map(({ wedges }) => slugs(wedges))
}

/** What one project may use, on the way of every task; one that is gone may use nothing. */
export async function allowanceOf(db: Db, projectId: string): Promise<Allowance> {
  const [row] = await projectRow(db, { projectId })
  return row ?? { wedges: '[]', tier: '' }
}

const projectRow = prepared<{ projectId: string }, Allowance>((db, arg) =>
  db.selectFrom('projects').select(['wedges', 'tier']).where('id', '=', arg('projectId')),
)

/** The list of wedges as it is stored; null: all. */
export function slugs(wedges: string | null): string[] | null {
  return wedges === null ? null : JSON.parse(wedges)
}
