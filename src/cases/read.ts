import type { Db } from '../store/store.ts'
import type { Cases } from '../store/tables.ts'
import { type Case, showCase } from './record.ts'
import { historyOf, tasksOf } from './rows.ts'

/** Cases with their history and the tasks that were spawned on them. */
export async function showCases(db: Db, rows: readonly Cases[]): Promise<Case[]> {
  const ids = rows.map((row) => row.id)
  const [history, tasks] = await Promise.all([historyOf(db, ids), tasksOf(db, ids)])
  const entriesOf = grouped(history)
  const idsOf = grouped(tasks)
  return rows.map((row) =>
    showCase(
      row,
      entriesOf.get(row.id) ?? [],
      (idsOf.get(row.id) ?? []).map((task) => task.id),
    ),
  )
}

export async function showOne(db: Db, row: Cases): Promise<Case> {
  const [shown] = await showCases(db, [row])
  if (!shown) throw new Error(`case ${row.id} was not shown`)
  return shown
}

function grouped<T extends { case_id: string | null }>(rows: readonly T[]): Map<string | null, T[]> {
  const groups = new Map<string | null, T[]>()
  for (const row of rows) {
    const group = groups.get(row.case_id)
    if (group) group.push(row)
    else groups.set(row.case_id, [row])
  }
  return groups
}
