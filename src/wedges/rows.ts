import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'

/** Which wedges each of the projects may use; null: all. */
export async function enabledWedges(db: Db, projectIds: readonly string[]): Promise<(string[] | null)[]> {
  if (projectIds.length === 0) return []
  const rows = await db.selectFrom('projects').select('wedges').where('id', 'in', projectIds).execute()
  return rows.map(({ wedges }) => slugs(wedges))
}

/** The same for one project, on the way of every task. */
export async function enabledWedgesOf(db: Db, projectId: string): Promise<string[] | null> {
  const [row] = await projectWedges(db, { projectId })
  return row ? slugs(row.wedges) : []
}

const projectWedges = prepared<{ projectId: string }, { wedges: string | null }>((db, arg) =>
  db.selectFrom('projects').select('wedges').where('id', '=', arg('projectId')),
)

function slugs(wedges: string | null): string[] | null {
  return wedges === null ? null : JSON.parse(wedges)
}
