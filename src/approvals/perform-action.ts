import { z } from 'zod'
import { appendAuditEntry } from '../audit/append.ts'
import { type ActionResult, sendAction } from '../connections/send-action.ts'
import type { Connection } from '../connections/rows.ts'
import { type Ctx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { updateLastEventId } from '../events/rows.ts'
import type { ApprovalRow, EffectRow } from '../store/tables.ts'
import { hashPayload, ApprovalRefusal } from './ask-approval.ts'
import type { GatedRun } from './gated-request.ts'
import { insertEffect, updateEffectOutcome } from './effect-rows.ts'
import { approvedPayload } from './view.ts'
import { findApprovalDecision } from './rows.ts'

export const EffectView = z
  .object({
    approval_id: z.string(),
    task_id: z.string(),
    action: z.string(),
    connection_id: z.string(),
    connection: z.string(),
    payload_sha256: z.string(),
    outcome: z.enum(['ok', 'failed', 'unknown', 'sent']),
    status: z.number().nullable(),
    error: z.string().nullable(),
    created_at: z.string(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'Action' })

export function toEffectView({ project_id: _project, replica: _replica, ...shown }: EffectRow) {
  return shown
}

/**
 * Does what the approval lets pass, once. The row is claimed before the call leaves; an outcome that is never heard
 * stays `unknown`, and nobody tries again.
 */
export async function performAction(
  ctx: Ctx,
  run: GatedRun,
  approval: ApprovalRow,
  connection: Connection,
): Promise<ActionResult> {
  const payload = approvedPayload(approval)
  // What leaves is what was decided, to the byte; anything else is refused.
  if (hashPayload(payload) !== approval.payload_sha256) throw new ApprovalRefusal('does not match its payload')
  await inDurableTx(ctx, (tx) => claimApprovedEffect(tx, run, approval, connection), run.over.signal)
  const ask = { capability: approval.action, payload, idempotencyKey: approval.id, runSignal: run.over.signal }
  const result = await sendAction(ctx, connection, ask)
  // It has happened: for as long as the process lives, its outcome will be written.
  await inDurableTx(ctx, (tx) => recordEffectOutcome(tx, run, approval, connection, result))
  return result
}

/** Only a row that says approved, of a run that still runs, becomes an effect. */
async function claimApprovedEffect(
  tx: Tx,
  run: GatedRun,
  approval: ApprovalRow,
  connection: Connection,
): Promise<void> {
  const [now] = await findApprovalDecision(tx.db, { id: approval.id })
  const passed = now?.status === 'approved' || now?.status === 'auto_approved'
  if (!now || !passed || now.payload_sha256 !== approval.payload_sha256)
    throw new ApprovalRefusal(now?.status ?? 'withdrawn')
  // Taking no number still locks the run's row: a cancel comes before the claim or after it, never in between.
  const [running] = await updateLastEventId(tx.db, { id: run.taskId, epoch: run.epoch, count: 0 })
  if (!running) throw new ApprovalRefusal('withdrawn: the run is over')
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
  const [settled] = await updateEffectOutcome(tx.db, { approval_id: approval.id, outcome, status, error, finished_at })
  // Taken for dead meanwhile: another replica has written that nobody knows.
  if (!settled) return
  const { action, payload_sha256 } = approval
  const data = { action, connection_id: connection.id, payload_sha256, outcome, status, task_id: run.taskId }
  await appendAuditEntry(
    tx,
    approval.project_id,
    { kind: 'task', id: run.taskId },
    'action.executed',
    approval.id,
    data,
  )
}
