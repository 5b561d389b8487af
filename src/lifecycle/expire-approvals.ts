import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { lockTask } from '../tasks/rows.ts'
import { closeApprovalsOfTask } from './close-approvals.ts'
import { endTask } from './end-task.ts'
import { findApprovalDecision, listDueApprovals } from './rows.ts'

/**
 * The expiry of approvals: when, and what happens then.
 *
 * - A request gets its `expires_at` here. The setting `SVC_APPROVAL_TTL_S` (five minutes) is the same for all requests.
 * - A decision after `expires_at` is refused, even if the sweep has not run yet (`updateApprovalDecision`).
 * - The sweep ends the task as `expired`. `app.ts` runs it every second, on every replica.
 */
export const approvalExpiresAt = (ctx: Pick<Ctx, 'config'>, requestedAtMs: number): string =>
  toIsoTime(requestedAtMs + ctx.config.approvalTtlS * 1000)

/** Expires the approvals that are due, each once over all replicas. Returns how many were due. */
export async function expireDueApprovals(ctx: Ctx): Promise<number> {
  const due = await listDueApprovals(ctx.db, { now: isoNow(ctx) })
  for (const { id, task_id } of due) await inTx(ctx, (tx) => expireApproval(tx, id, task_id))
  return due.length
}

async function expireApproval(tx: Tx, approvalId: string, taskId: string): Promise<void> {
  await lockTask(tx.db, { id: taskId })
  const [current] = await findApprovalDecision(tx.db, { id: approvalId })
  if (current?.status !== 'pending') return
  const message = 'no decision before the approval expired; POST /v1/tasks/:id/retry runs the task again'
  const ended = await endTask(tx, taskId, { status: 'expired', error: { reason: 'expired', message } })
  // If the task had already ended, its approval must not stay pending.
  if (!ended) await closeApprovalsOfTask(tx, taskId, 'expired', SYSTEM_ACTOR)
}
