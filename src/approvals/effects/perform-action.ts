import { type ActionRequest, type ActionResult, isWithdrawn } from '../../connections/actions/send-action.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { sleep } from '../../platform/ctx/world.ts'
import { retryUntilAvailable } from '../../platform/store/errors.ts'
import type { ApprovalRow, EffectRow } from '../../platform/store/tables.ts'
import { updateLastEventId } from '../../work/events/rows.ts'
import { findApprovalDecision } from '../lifecycle/rows.ts'
import type { GatedRun } from '../policy/gated-request.ts'
import { ApprovalRefusal, hashPayload } from '../requests/ask-approval.ts'
import { approvedPayload } from '../requests/view.ts'
import { findEffect } from './effect-rows.ts'
import { type Effect, sendOnce } from './send-once.ts'

/** An approved action of a run. */
export interface ApprovedAction extends Pick<Effect, 'connection' | 'externalId' | 'onClaim' | 'onOutcome'> {
  run: GatedRun
  approval: ApprovalRow
  messageId?: string
  /** Sends the action instead of the connection's own executor. */
  send?: ActionRequest['send']
}

/**
 * Sends the approved action, once. If its outcome never becomes known, it is `unknown`, and the service does not send the
 * action again unless a person says that it did not happen. A run that continues gets the result of an action that was sent
 * before.
 */
export async function performAction(ctx: Ctx, action: ApprovedAction): Promise<ActionResult> {
  const effect = toEffect(action)
  // Only the payload that was approved, byte for byte, may be sent.
  if (hashPayload(effect.payload) !== action.approval.payload_sha256)
    throw new ApprovalRefusal('does not match its payload')
  return (await sendOnce(ctx, effect)) ?? continueEarlierAction(ctx, action, effect)
}

function toEffect({ run, approval, connection, messageId, send, ...hooks }: ApprovedAction): Effect {
  return {
    id: approval.id,
    projectId: approval.project_id,
    run,
    messageId: messageId ?? null,
    action: approval.action,
    payload: approvedPayload(approval),
    connection,
    call: {
      clientId: run.task.client_id,
      askPerson: connection ? run.askForServer(approval.id, connection) : undefined,
      send,
    },
    actor: { kind: 'task', id: run.taskId },
    auditData: { task_id: run.taskId },
    mayClaim: (tx) => requireApproved(tx, run, approval),
    ...hooks,
  }
}

/** True if the approval is still approved and the run still active; throws otherwise. */
async function requireApproved(tx: Tx, run: GatedRun, approval: ApprovalRow): Promise<boolean> {
  const [current] = await findApprovalDecision(tx.db, { id: approval.id })
  const isApproved = current?.status === 'approved' || current?.status === 'auto_approved'
  if (!isApproved || current.payload_sha256 !== approval.payload_sha256) {
    throw new ApprovalRefusal(current?.status ?? 'withdrawn')
  }
  // A count of 0 takes no event number but locks the task, so a cancel comes before this claim or after it.
  const [running] = await updateLastEventId(tx.db, { id: run.taskId, epoch: run.epoch, count: 0 })
  if (!running) throw new ApprovalRefusal('withdrawn: the run has ended')
  return true
}

/** The result of an action that an earlier process of the run sent. */
async function continueEarlierAction(ctx: Ctx, action: ApprovedAction, effect: Effect): Promise<ActionResult> {
  const { run, approval } = action
  const earlier = run.keepsResults() ? await waitForOutcome(ctx, action) : await readEffect(ctx, action)
  if (earlier && isWithdrawn(earlier)) return sendAgain(ctx, effect, earlier)
  if (!earlier || !run.keepsResults()) throw new ApprovalRefusal('was used already')
  const result: ActionResult = earlier.result === null ? unstoredResult(earlier) : JSON.parse(earlier.result)
  if (earlier.outcome !== 'unknown' || !run.isResumable) return result
  const isDone = await run.askWhetherDone(approval, earlier)
  if (isDone === null) return result
  return isDone ? { ...result, outcome: 'ok', ok: true, error: null } : sendAgain(ctx, effect, earlier)
}

/** Sends the action under the same idempotency key, if the effect still is as it was found. */
async function sendAgain(ctx: Ctx, effect: Effect, earlier: EffectRow): Promise<ActionResult> {
  const result = await sendOnce(ctx, { ...effect, messageId: earlier.message_id }, earlier)
  if (!result) throw new ApprovalRefusal('was used already')
  return result
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
  const [effect] = await retryUntilAvailable(() => findEffect(ctx.db, { id: approval.id }), run.over.signal)
  return effect
}

const unstoredResult = ({ outcome, status, error }: EffectRow): ActionResult => ({
  outcome: outcome === 'ok' || outcome === 'failed' ? outcome : 'unknown',
  ok: outcome === 'ok',
  status,
  result: null,
  error,
})
