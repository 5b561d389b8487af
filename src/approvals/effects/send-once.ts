import { appendAuditEntry } from '../../audit/append.ts'
import {
  type ActionRequest,
  type ActionResult,
  DONE_WITHOUT_CALL,
  sendAction,
} from '../../connections/actions/send-action.ts'
import type { Connection } from '../../connections/connection/rows.ts'
import { recordReplyDelivery } from '../../customers/threads/reply-delivery.ts'
import type { Json, JsonObject } from '../../platform/base/json.ts'
import { type Ctx, inDurableTx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { type Actor, SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { EffectRow } from '../../platform/store/tables.ts'
import type { GatedRun } from '../policy/gated-request.ts'
import { hashPayload } from '../requests/ask-approval.ts'
import { insertEffect, type OpenEffect, updateEffectOutcome, updateEffectSentAgain } from './effect-rows.ts'

/** One call to another system, which must not happen twice. */
export interface Effect {
  /** The id of the approval, of a member's message or of a mail. It is the idempotency key of the call. */
  id: string
  projectId: string
  /** The run that acts; null: a member or the service. */
  run: GatedRun | null
  /** The message of a thread that is sent. */
  messageId: string | null
  action: string
  payload: Json
  /** Null: nothing is sent, such as for a reply that is shown in the portal. What it does is in `onClaim`. */
  connection: Connection | null
  call?: Pick<ActionRequest, 'clientId' | 'askPerson' | 'send'>
  /** The provider's id of the message, after the call. */
  externalId?: () => string | null
  actor: Actor
  /** More for the entry of the audit log. */
  auditData?: JsonObject
  /** False if nothing must be sent. It runs in the transaction that claims the effect. */
  mayClaim?(tx: Tx): Promise<boolean>
  /** Stores more in the transaction that claims the effect, before it is sent. */
  onClaim?(tx: Tx, effect: Effect): Promise<void>
  /** Stores more in the transaction that stores the outcome. */
  onOutcome?(tx: Tx, result: ActionResult): Promise<void>
}

/**
 * Claims the effect, sends it and records the outcome. Only the caller that inserts the effect sends, so it is sent once; if
 * the process dies before the outcome is recorded, another one records it as `unknown`. Null if the effect was not claimed.
 * An earlier attempt that did not happen can be given: the effect is claimed again as it was found.
 */
export async function sendOnce(
  ctx: Ctx,
  effect: Effect,
  earlier: EffectRow | null = null,
): Promise<ActionResult | null> {
  const { run, connection } = effect
  const claim = (tx: Tx) => claimEffect(tx, effect, earlier)
  const isClaimed = run ? await inDurableTx(ctx, claim, run.over.signal) : await inTx(ctx, claim)
  if (!isClaimed) return null
  if (!connection) return DONE_WITHOUT_CALL
  const send = () => sendAndRecord(ctx, effect, connection)
  return run ? run.whileWorking(send) : send()
}

async function claimEffect(tx: Tx, effect: Effect, earlier: EffectRow | null): Promise<boolean> {
  if (effect.mayClaim && !(await effect.mayClaim(tx))) return false
  const [claimed] = earlier ? await updateSentAgain(tx, earlier) : await insertClaim(tx, effect)
  if (!claimed) return false
  await effect.onClaim?.(tx, effect)
  // What is only shown is done with its claim, so a crash cannot leave it visible with an unknown outcome.
  if (!effect.connection) await recordOutcome(tx, effect, DONE_WITHOUT_CALL)
  return true
}

const insertClaim = (tx: Tx, { id, projectId, run, messageId, action, payload, connection }: Effect) =>
  insertEffect(tx.db, {
    id,
    project_id: projectId,
    task_id: run?.taskId ?? null,
    message_id: messageId,
    connection_id: connection?.id ?? null,
    connection: connection?.name ?? null,
    action,
    payload_sha256: hashPayload(payload),
    replica: tx.replica,
    created_at: isoNow(tx),
  })

const updateSentAgain = (tx: Tx, { id, outcome, finished_at }: EffectRow) =>
  updateEffectSentAgain(tx.db, { id, outcome, finished_at, replica: tx.replica })

async function sendAndRecord(ctx: Ctx, effect: Effect, connection: Connection): Promise<ActionResult> {
  const { id, run, action, payload, call } = effect
  const runSignal = run?.over.signal ?? NEVER_ABORTED
  const result = await sendAction(ctx, connection, {
    capability: action,
    payload,
    idempotencyKey: id,
    runSignal,
    ...call,
  })
  // It was sent, so its outcome is written as soon as the store is available.
  await inDurableTx(ctx, (tx) => recordOutcome(tx, effect, result))
  return result
}

/** The effect does not belong to a run that could end. */
const NEVER_ABORTED = { aborted: false }

async function recordOutcome(tx: Tx, effect: Effect, sent: ActionResult): Promise<void> {
  const { id, run, messageId, action, payload, connection, auditData } = effect
  const { outcome, status, error } = sent
  const result = run?.keepsResults() ? JSON.stringify(sent) : null
  const finished_at = isoNow(tx)
  const [updated] = await updateEffectOutcome(tx.db, {
    id,
    replica: tx.replica,
    outcome,
    status,
    error,
    result,
    finished_at,
  })
  // Another replica took this one for dead and has already written `unknown`.
  if (!updated) return
  // Before the audit entry, whose lock is the last one of every transaction.
  if (messageId !== null) await recordReplyDelivery(tx, messageId, sent, effect.externalId?.() ?? null)
  await effect.onOutcome?.(tx, sent)
  const data = { action, connection_id: connection?.id ?? null, payload_sha256: hashPayload(payload), outcome, status }
  await appendAuditEntry(tx, effect.projectId, effect.actor, 'action.executed', id, { ...data, ...auditData })
}

/** Records an effect of a replica that died before the outcome was known. It is not sent again. */
export function recordLostEffect(ctx: Ctx, replica: string, effect: OpenEffect): Promise<void> {
  const { id, project_id, task_id, message_id, action } = effect
  return inTx(ctx, async (tx) => {
    const error = 'the service stopped before the response arrived'
    const lost = { outcome: 'unknown', status: null, result: null, finished_at: isoNow(tx), error } as const
    const [recorded] = await updateEffectOutcome(tx.db, { id, replica, ...lost })
    if (!recorded) return
    if (message_id !== null) await recordReplyDelivery(tx, message_id, lost, null)
    const data = { action, task_id, outcome: 'unknown' }
    await appendAuditEntry(tx, project_id, SYSTEM_ACTOR, 'action.executed', id, data)
  })
}
