import { updateEscalation } from '../people/approver-rows.ts'
import { listEscalations, nextEscalationAt } from '../requests/notice-times.ts'
import { parseApprovers } from '../requests/view.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishSameStatus } from '../../work/events/project-changes.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'

/**
 * Takes the steps of the escalation that are due: more people may decide, and they are notified like the first ones. Sets
 * when the next step is due. Call it in the transaction that has taken the notice of the approval, so that a step is taken once
 * over all replicas.
 */
export async function escalateApproval(tx: Tx, row: ApprovalRow): Promise<ApprovalRow> {
  const now = isoNow(tx)
  const since = row.escalated_at ?? row.created_at
  const due = listEscalations(row).filter(({ at }) => at > since && at <= now)
  const notify_at = nextEscalationAt(row, now)
  if (due.length === 0 && notify_at === null) return row
  const to = [...new Set(due.flatMap((step) => step.to))]
  const escalated_at = due.length === 0 ? row.escalated_at : now
  const approvers = addApprovers(row, to)
  await updateEscalation(tx.db, { id: row.id, approvers, escalated_at, notify_at })
  if (due.length > 0) {
    publishSameStatus(tx, row.project_id, { kind: 'approval', id: row.id, status: row.status })
    const { action, task_id } = row
    await appendAuditEntry(tx, row.project_id, SYSTEM_ACTOR, 'approval.escalated', row.id, { action, task_id, to })
  }
  return { ...row, approvers, escalated_at, notify_at }
}

/** Without a list everyone may decide already. */
function addApprovers(row: ApprovalRow, to: string[]): string | null {
  const approvers = parseApprovers(row)
  return approvers && JSON.stringify([...new Set([...approvers, ...to])])
}
