import type { Db } from '../store/store.ts'
import type { CaseRow } from '../store/tables.ts'
import { type Case, toCaseView } from './view.ts'
import { listCaseHistory, listCaseTaskIds } from './rows.ts'

/** Cases with their history and the tasks that were spawned on them. */
export async function readCaseViews(db: Db, rows: readonly CaseRow[]): Promise<Case[]> {
  const ids = rows.map((row) => row.id)
  const [history, tasks] = await Promise.all([listCaseHistory(db, ids), listCaseTaskIds(db, ids)])
  const entriesOf = groupByCase(history)
  const idsOf = groupByCase(tasks)
  return rows.map((row) =>
    toCaseView(
      row,
      entriesOf.get(row.id) ?? [],
      (idsOf.get(row.id) ?? []).map((task) => task.id),
    ),
  )
}

export async function readCaseView(db: Db, row: CaseRow): Promise<Case> {
  const [shown] = await readCaseViews(db, [row])
  if (!shown) throw new Error(`case ${row.id} was not shown`)
  return shown
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
