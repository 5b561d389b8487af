import { appendAuditEntry } from '../audit/append.ts'
import type { Connection } from '../connections/rows.ts'
import { type ActionResult, sendAction } from '../connections/send-action.ts'
import { type Ctx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { updateLastEventId } from '../events/rows.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { ApprovalRefusal, hashPayload } from './ask-approval.ts'
import { insertEffect, updateEffectOutcome } from './effect-rows.ts'
import type { GatedRun } from './gated-request.ts'
import { approvedPayload } from './view.ts'

/**
 * Sends the approved action, once. The effect is inserted before the call. If its outcome never becomes known, it is
 * `unknown`, and the service does not send the action again.
 */
export async function performAction(
  ctx: Ctx,
  run: GatedRun,
  approval: ApprovalRow,
  connection: Connection,
): Promise<ActionResult> {
  const payload = approvedPayload(approval)
  // Only the payload that was approved, byte for byte, may be sent.
  if (hashPayload(payload) !== approval.payload_sha256) throw new ApprovalRefusal('does not match its payload')
  await inDurableTx(ctx, (tx) => claimApprovedEffect(tx, run, approval, connection), run.over.signal)
  const request = { capability: approval.action, payload, idempotencyKey: approval.id, runSignal: run.over.signal }
  const result = await sendAction(ctx, connection, request)
  // The action was sent, so its outcome is written as soon as the store is available.
  await inDurableTx(ctx, (tx) => recordEffectOutcome(tx, run, approval, connection, result))
  return result
}

/** Inserts the effect if the approval is still approved, the run still active and the effect not yet claimed. */
async function claimApprovedEffect(
  tx: Tx,
  run: GatedRun,
  approval: ApprovalRow,
  connection: Connection,
): Promise<void> {
  const [current] = await findApprovalDecision(tx.db, { id: approval.id })
  const isApproved = current?.status === 'approved' || current?.status === 'auto_approved'
  if (!isApproved || current.payload_sha256 !== approval.payload_sha256) {
    throw new ApprovalRefusal(current?.status ?? 'withdrawn')
  }
  // A count of 0 takes no event number but locks the task, so a cancel comes before this claim or after it.
  const [running] = await updateLastEventId(tx.db, { id: run.taskId, epoch: run.epoch, count: 0 })
  if (!running) throw new ApprovalRefusal('withdrawn: the run has ended')
  const [claimed] = await insertEffect(tx.db, {
    approval_id: approval.id,
    project_id: approval.project_id,
    task_id: approval.task_id,
    connection_id: connection.id,
    connection: connection.name,
    action: approval.action,
    payload_sha256: approval.payload_sha256,
    replica: tx.replica,
    created_at: isoNow(tx),
  })
  if (!claimed) throw new ApprovalRefusal('was used already')
}

async function recordEffectOutcome(
  tx: Tx,
  run: GatedRun,
  approval: ApprovalRow,
  connection: Connection,
  result: ActionResult,
) {
  const { outcome, status, error } = result
  const finished_at = isoNow(tx)
  const [updated] = await updateEffectOutcome(tx.db, { approval_id: approval.id, outcome, status, error, finished_at })
  // Another replica took this one for dead and has already written `unknown`.
  if (!updated) return
  const { action, payload_sha256 } = approval
  const data = { action, connection_id: connection.id, payload_sha256, outcome, status, task_id: run.taskId }
  const actor = { kind: 'task', id: run.taskId } as const
  await appendAuditEntry(tx, approval.project_id, actor, 'action.executed', approval.id, data)
}
