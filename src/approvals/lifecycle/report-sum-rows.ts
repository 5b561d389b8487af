import { createBulkInsert } from '../../platform/store/dialect.ts'
import type { Db } from '../../platform/store/store.ts'
import type { Tables } from '../../platform/store/tables.ts'

export const addRunSums = addSumsTo('report_runs', ['project_id', 'day', 'wedge', 'status'], ['runs', 'cost_micros'])

export const addClientSums = addSumsTo('report_clients', ['project_id', 'period', 'client_id'], ['runs', 'cost_micros'])

export const addApprovalSums = addSumsTo('report_approvals', ['project_id', 'period', 'status', 'wait_ms'], ['n'])

/** Adds rows to existing sums, or inserts them. */
function addSumsTo<T extends 'report_runs' | 'report_clients' | 'report_approvals'>(
  table: T,
  key: readonly (keyof Tables[T] & string)[],
  sums: readonly (keyof Tables[T] & string)[],
) {
  const columns = [...key, ...sums]
  const insert = createBulkInsert(table, columns, sums)
  return (db: Db, rows: readonly Tables[T][]): Promise<void> =>
    insert(
      db,
      rows.map((row) => columns.map((column) => row[column])),
    )
}
