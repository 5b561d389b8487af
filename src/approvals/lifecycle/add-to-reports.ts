import type { Tx } from '../../platform/ctx/ctx.ts'
import type { ApprovalRow, TaskRow } from '../../platform/store/tables.ts'
import { addApprovalSums, addClientSums, addRunSums } from './report-sum-rows.ts'

type EndedTask = Pick<TaskRow, 'id' | 'project_id' | 'wedge' | 'client_id' | 'status' | 'cost_micros' | 'created_at'>

/**
 * Adds a task that ends to the sums of the reports, in the commit that ends it: so a report reads sums and the tasks that
 * have not ended, and the sums are exact. The sums are written after the bytes of the project (`countStoredBytes`), for
 * which concurrent ends wait for each other anyway.
 */
export function addEndedTaskToReports(
  tx: Tx,
  { id, project_id, created_at, wedge, client_id, status, cost_micros }: EndedTask,
): void {
  const sum = { project_id, runs: 1, cost_micros }
  const periods = periodsOf(created_at)
  tx.groupCommit.writeAtEnd(`report sums of ${id}`, async (db) => {
    await addRunSums(db, [{ ...sum, day: periods[0], wedge, status }])
    if (client_id === null) return
    await addClientSums(
      db,
      periods.map((period) => ({ ...sum, period, client_id })),
    )
  })
}

export type DecidedApproval = Pick<
  ApprovalRow,
  'id' | 'project_id' | 'path' | 'status' | 'created_at' | 'decided_at' | 'decided_by_kind'
>

/** Adds a decision to the sums of the reports. The transaction has locked the audit chain of the project for its entry. */
export function addDecisionToReports(tx: Tx, approval: DecidedApproval): void {
  // A question approves nothing, and clients may take days to answer.
  if (approval.path === 'question') return
  const { id, project_id, status } = approval
  const sum = { project_id, status, wait_ms: approvalWaitMs(approval), n: 1 }
  tx.groupCommit.writeAtEnd(`report sums of ${id}`, (db) =>
    addApprovalSums(
      db,
      periodsOf(approval.created_at).map((period) => ({ ...sum, period })),
    ),
  )
}

/** A day and its month. */
const periodsOf = (created_at: string) => [created_at.slice(0, 10), created_at.slice(0, 7)] as const

/** Stored for approvals that no person decided. */
export const NO_WAIT = -1

/**
 * How long a person took to decide, in milliseconds. From ten seconds on it is rounded to seconds, and to three digits:
 * so the waits of a year are a short list of counted values, even if approvals stay open for weeks.
 */
export function approvalWaitMs({
  status,
  created_at,
  decided_at,
  decided_by_kind,
}: Pick<DecidedApproval, 'status' | 'created_at' | 'decided_at' | 'decided_by_kind'>): number {
  const byPerson = (status === 'approved' || status === 'rejected') && decided_by_kind !== 'system'
  if (!byPerson || decided_at === null) return NO_WAIT
  const ms = Math.max(0, Date.parse(decided_at) - Date.parse(created_at))
  return ms < 10_000 ? Number(ms.toPrecision(3)) : Number(Math.round(ms / 1000).toPrecision(3)) * 1000
}
