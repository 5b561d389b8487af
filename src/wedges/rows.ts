import { prepared } from '../store/prepared.ts'
import type { Db } from '../store/store.ts'
import type { Projects } from '../store/tables.ts'

/** Which wedges each of the projects may use; null: all. */
export async function enabledWedges(db: Db, projectIds: readonly string[]): Promise<(string[] | null)[]> {
  if (projectIds.length === 0) return []
  const rows = await db.selectFrom('projects').select('wedges').where('id', 'in', projectIds).execute()
  return rows.map(({ wedges }) => slugs(wedges))
}

/** What a project may use, on the way of every task: its wedges, all where there is no list, and its tier of models. */
export async function allowedTo(db: Db, projectId: string): Promise<{ wedges: string[] | null; tier: string }> {
  const [row] = await projectRow(db, { projectId })
  return row ? { wedges: slugs(row.wedges), tier: row.tier } : { wedges: [], tier: '' }
}

const projectRow = prepared<{ projectId: string }, Pick<Projects, 'wedges' | 'tier'>>((db, arg) =>
  db.selectFrom('projects').select(['wedges', 'tier']).where('id', '=', arg('projectId')),
)

function slugs(wedges: string | null): string[] | null {
  return wedges === null ? null : JSON.parse(wedges)
}
