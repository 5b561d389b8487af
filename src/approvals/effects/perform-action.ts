import { appendAuditEntry } from '../../audit/append.ts'
import type { Connection } from '../../connections/connection/rows.ts'
import {
  type ActionResult,
  type ActionSender,
  DONE_WITHOUT_CALL,
  isWithdrawn,
  sendAction,
} from '../../connections/actions/send-action.ts'
import { type Ctx, inDurableTx, type Tx } from '../../platform/ctx/ctx.ts'
import { isoNow, sleep } from '../../platform/ctx/world.ts'
import { updateLastEventId } from '../../work/events/rows.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import { retryUntilAvailable } from '../../platform/store/errors.ts'
import type { ApprovalRow, EffectRow } from '../../platform/store/tables.ts'
import { ApprovalRefusal, hashPayload } from '../requests/ask-approval.ts'
import { findEffect, insertEffect, updateEffectOutcome, updateEffectSentAgain } from './effect-rows.ts'
import type { GatedRun } from '../policy/gated-request.ts'
import { approvedPayload } from '../requests/view.ts'

/** An approved action of a run. */
export interface ApprovedAction {
  run: GatedRun
  approval: ApprovalRow
  /** Null: nothing is sent, such as for a reply that is shown in the portal. What it does is in `onClaim`. */
  connection: Connection | null
  /** Sends the action instead of the connection's own executor. */
  send?: ActionSender | undefined
  /** Stores more in the transaction that claims the effect, before the action is sent. */
  onClaim?: ((tx: Tx) => Promise<void>) | undefined
  /** Stores more in the transaction that stores the outcome. */
  onOutcome: (tx: Tx, result: ActionResult) => Promise<void>
}

/**
 * Sends the approved action, once. The effect is inserted before the call. If its outcome never becomes known, it is
 * `unknown`, and the service does not send the action again unless a person says that it did not happen. A run that
 * continues gets the result of an action that was sent before.
 */
export async function performAction(ctx: Ctx, action: ApprovedAction): Promise<ActionResult> {
  const { run, approval } = action
  // Only the payload that was approved, byte for byte, may be sent.
  if (hashPayload(approvedPayload(approval)) !== approval.payload_sha256)
    throw new ApprovalRefusal('does not match its payload')
  const isClaimed = await inDurableTx(ctx, (tx) => claimApprovedEffect(tx, action), run.over.signal)
  return isClaimed ? sendClaimedAction(ctx, action) : continueEarlierAction(ctx, action)
}

async function sendClaimedAction(ctx: Ctx, action: ApprovedAction): Promise<ActionResult> {
  const { run, connection } = action
  return connection ? run.whileWorking(() => sendAndRecord(ctx, action, connection)) : DONE_WITHOUT_CALL
}

async function sendAndRecord(ctx: Ctx, action: ApprovedAction, connection: Connection): Promise<ActionResult> {
  const result = await sendThrough(ctx, action, connection)
  // The action was sent, so its outcome is written as soon as the store is available.
  await inDurableTx(ctx, (tx) => recordEffectOutcome(tx, action, result))
  return result
}

function sendThrough(ctx: Ctx, { run, approval, send }: ApprovedAction, connection: Connection): Promise<ActionResult> {
  return sendAction(ctx, connection, {
    capability: approval.action,
    payload: approvedPayload(approval),
    idempotencyKey: approval.id,
    runSignal: run.over.signal,
    clientId: run.task.client_id,
    askPerson: run.askForServer(approval.id, connection),
    send,
  })
}

/** Inserts the effect if the approval is still approved and the run still active. False if it was claimed before. */
async function claimApprovedEffect(tx: Tx, action: ApprovedAction): Promise<boolean> {
  await requireApproved(tx, action)
  const { approval, connection } = action
  const [claimed] = await insertEffect(tx.db, {
    approval_id: approval.id,
    project_id: approval.project_id,
    task_id: approval.task_id,
    connection_id: connection?.id ?? null,
    connection: connection?.name ?? null,
    action: approval.action,
    payload_sha256: approval.payload_sha256,
    replica: tx.replica,
    created_at: isoNow(tx),
  })
  if (claimed) await startClaimedAction(tx, action)
  return claimed !== undefined
}

/** What is only shown is done with its claim, so a crash cannot leave it visible with an unknown outcome. */
async function startClaimedAction(tx: Tx, action: ApprovedAction): Promise<void> {
  await action.onClaim?.(tx)
  if (!action.connection) await recordEffectOutcome(tx, action, DONE_WITHOUT_CALL)
}

async function requireApproved(tx: Tx, { run, approval }: ApprovedAction): Promise<void> {
  const [current] = await findApprovalDecision(tx.db, { id: approval.id })
  const isApproved = current?.status === 'approved' || current?.status === 'auto_approved'
  if (!isApproved || current.payload_sha256 !== approval.payload_sha256) {
    throw new ApprovalRefusal(current?.status ?? 'withdrawn')
  }
  // A count of 0 takes no event number but locks the task, so a cancel comes before this claim or after it.
  const [running] = await updateLastEventId(tx.db, { id: run.taskId, epoch: run.epoch, count: 0 })
  if (!running) throw new ApprovalRefusal('withdrawn: the run has ended')
}

/** The result of an action that an earlier process of the run sent. */
async function continueEarlierAction(ctx: Ctx, action: ApprovedAction): Promise<ActionResult> {
  const { run, approval } = action
  const effect = run.keepsResults() ? await waitForOutcome(ctx, action) : await readEffect(ctx, action)
  if (effect && isWithdrawn(effect)) return sendAgain(ctx, action, effect)
  if (!effect || !run.keepsResults()) throw new ApprovalRefusal('was used already')
  const result: ActionResult = effect.result === null ? unstoredResult(effect) : JSON.parse(effect.result)
  if (effect.outcome !== 'unknown' || !run.isResumable) return result
  const isDone = await run.askWhetherDone(approval, effect)
  if (isDone === null) return result
  return isDone ? { ...result, outcome: 'ok', ok: true, error: null } : sendAgain(ctx, action, effect)
}

/** Sends the action under the same idempotency key, if the effect still is as it was found. */
async function sendAgain(ctx: Ctx, action: ApprovedAction, effect: EffectRow): Promise<ActionResult> {
  const { approval_id, outcome, finished_at } = effect
  await inDurableTx(
    ctx,
    async (tx) => {
      await requireApproved(tx, action)
      const [claimed] = await updateEffectSentAgain(tx.db, { approval_id, outcome, finished_at, replica: tx.replica })
      if (!claimed) throw new ApprovalRefusal('was used already')
      await startClaimedAction(tx, action)
    },
    action.run.over.signal,
  )
  return sendClaimedAction(ctx, action)
}

/** How often to check whether another process has stored the outcome of the action that it sent. */
const OUTCOME_POLL_MS = 700

async function waitForOutcome(ctx: Ctx, action: ApprovedAction): Promise<EffectRow> {
  while (!action.run.over.signal.aborted) {
    const effect = await readEffect(ctx, action)
    if (effect && effect.outcome !== 'sent') return effect
    await sleep(ctx.world.clock, OUTCOME_POLL_MS)
  }
  throw new ApprovalRefusal('withdrawn: the run has ended')
}

async function readEffect(ctx: Ctx, { run, approval }: ApprovedAction): Promise<EffectRow | undefined> {
  const [effect] = await retryUntilAvailable(() => findEffect(ctx.db, { approval_id: approval.id }), run.over.signal)
  return effect
}

const unstoredResult = ({ outcome, status, error }: EffectRow): ActionResult => ({
  outcome: outcome === 'ok' || outcome === 'failed' ? outcome : 'unknown',
  ok: outcome === 'ok',
  status,
  result: null,
  error,
})

async function recordEffectOutcome(
  tx: Tx,
  { run, approval, connection, onOutcome }: ApprovedAction,
  sent: ActionResult,
): Promise<void> {
  const { outcome, status, error } = sent
  const result = run.keepsResults() ? JSON.stringify(sent) : null
  const finished_at = isoNow(tx)
  const effect = { approval_id: approval.id, replica: tx.replica, outcome, status, error, result, finished_at }
  const [updated] = await updateEffectOutcome(tx.db, effect)
  // Another replica took this one for dead and has already written `unknown`.
  if (!updated) return
  const { action, payload_sha256 } = approval
  const data = { action, connection_id: connection?.id ?? null, payload_sha256, outcome, status, task_id: run.taskId }
  const actor = { kind: 'task', id: run.taskId } as const
  // Before the audit entry, whose lock is the last one of every transaction.
  await onOutcome(tx, sent)
  await appendAuditEntry(tx, approval.project_id, actor, 'action.executed', approval.id, data)
}
