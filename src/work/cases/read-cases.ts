import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import type { Db } from '../../platform/store/store.ts'
import type { CaseRow } from '../../platform/store/tables.ts'
import { listCaseHistory, listCaseTaskIds } from './rows.ts'
import { type CaseView, toCaseView } from './view.ts'

/** Reads the history, the task ids and the names of the members of cases and returns their views. */
export async function readCaseViews(db: Db, rows: readonly CaseRow[]): Promise<CaseView[]> {
  const ids = rows.map((row) => row.id)
  const [history, tasks] = await Promise.all([listCaseHistory(db, ids), listCaseTaskIds(db, ids)])
  const nameOf = await nameActors(db, [
    ...rows.map(({ assignee_id }) => ({ kind: 'member', id: assignee_id })),
    ...history.map(({ by_kind, by_id }) => ({ kind: by_kind, id: by_id })),
  ])
  const entriesByCase = groupByCase(history)
  const tasksByCase = groupByCase(tasks)
  return rows.map((row) =>
    toCaseView(row, {
      history: entriesByCase.get(row.id) ?? [],
      taskIds: (tasksByCase.get(row.id) ?? []).map((task) => task.id),
      nameOf,
    }),
  )
}

export async function readCaseView(db: Db, row: CaseRow): Promise<CaseView> {
  const [view] = await readCaseViews(db, [row])
  if (!view) throw new Error(`no view of case ${row.id}`)
  return view
}

function groupByCase<T extends { case_id: string | null }>(rows: readonly T[]): Map<string | null, T[]> {
  const groups = new Map<string | null, T[]>()
  for (const row of rows) {
    const group = groups.get(row.case_id)
    if (group) group.push(row)
    else groups.set(row.case_id, [row])
  }
  return groups
}
