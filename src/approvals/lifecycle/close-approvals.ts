import { appendAuditEntry } from '../../audit/append.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { NewEvent } from '../../work/events/event-types.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { addDecisionToReports } from './add-to-reports.ts'
import { updatePendingApprovalsClosed } from './rows.ts'

/**
 * Closes the pending approvals of a task and returns the events for its log. Expired approvals have no event of their
 * own: the API reports them with `task.finished` only. The reason says why an approval was closed before its time.
 */
export async function closeApprovalsOfTask(
  tx: Tx,
  taskId: string,
  status: 'rejected' | 'expired',
  by: Actor,
  reason: string | null = null,
): Promise<NewEvent[]> {
  const decided_at = isoNow(tx)
  const change = { task_id: taskId, status, reason, decided_at, by_kind: by.kind, by_id: by.id }
  const closed = await updatePendingApprovalsClosed(tx.db, change)
  for (const approval of closed) {
    const { id, project_id, action } = approval
    addDecisionToReports(tx, { ...approval, status, decided_at, decided_by_kind: by.kind })
    tx.publishAfterCommit({ topic: 'approval-decided', id })
    publishProjectChange(tx, project_id, { kind: 'approval', id, status })
    const data = { action, task_id: taskId, ...(reason !== null && { reason }) }
    await appendAuditEntry(tx, project_id, by, `approval.${status}`, id, data)
  }
  return status === 'expired' ? [] : closed.map((approval) => rejectedEvent(approval, by))
}

function rejectedEvent({ id, action }: { id: string; action: string }, { kind, id: by }: Actor): NewEvent {
  return {
    type: 'approval.resolved',
    data: { approval_id: id, action, decision: 'rejected', decided_by: { kind, id: by } },
  }
}
