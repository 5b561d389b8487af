import { deleteDecisionLinksBefore } from '../../approvals/notifications/links/decision-link-rows.ts'
import { deleteExpiredCodes } from '../../approvals/notifications/links/link-rows.ts'
import { deleteMessagesBefore, updateApprovalsWithoutMessages } from '../../approvals/notifications/message-rows.ts'
import { deleteOldPolicyCounters } from '../../approvals/policy/policy-counter-rows.ts'
import { deleteNoticeTokensBefore } from '../../conversations/portal/notice-rows.ts'
import { deleteExpiredPortalRows } from '../../conversations/portal/rows.ts'
import { MAX_CALL_AGE_S } from '../../customers/channels/adapters/check-call.ts'
import { deleteSignedTokensBefore } from '../../customers/channels/signed-token-rows.ts'
import { deleteCommitMarksBefore, deleteReplicasBefore } from '../../execution/runs/replicas/rows.ts'
import { deleteExpiredSessions } from '../../identity/authentication/credential-rows.ts'
import { deleteRateWindowsBefore } from '../../identity/limits/rate-window-rows.ts'
import { oldestRateWindow } from '../../identity/limits/rate-windows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { deleteIdempotencyKeysBefore } from '../../work/tasks/idempotency-rows.ts'
import { deleteDeliveriesBefore } from '../webhooks/delivery-rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** Until then, a link that is used or expired says so instead of being unknown. */
const LINK_RETENTION_DAYS = 30
/** Longer than any approval waits: a message must be known for as long as it may be rewritten. */
const MESSAGE_RETENTION_DAYS = 90
const UNSUBSCRIBE_LINK_DAYS = 365
const DELIVERY_RETENTION_DAYS = 7
const ROWS_PER_BATCH = 1_000

/**
 * Deletes credentials, links, counters, keys and deliveries that have expired or cannot be used any more. They are refused
 * anyway; this keeps the tables small. All replicas can run this at the same time.
 */
export async function deleteExpiredRows(ctx: Ctx): Promise<void> {
  const nowMs = ctx.world.clock.now()
  const now = toIsoTime(nowMs)
  const daysAgo = (days: number) => toIsoTime(nowMs - days * DAY_MS)
  // A signed time may be five minutes ahead, so a token is refused by its time after ten minutes at the latest.
  const refusedTokens = toIsoTime(nowMs - 2 * MAX_CALL_AGE_S * 1000)
  await inTx(ctx, async ({ db }) => {
    await deleteExpiredSessions(db, now)
    await deleteRateWindowsBefore(db, oldestRateWindow(ctx))
  })
  await inTx(ctx, ({ db }) => deleteSignedTokensBefore(db, { before: refusedTokens }))
  await inTx(ctx, ({ db }) => deleteExpiredPortalRows(db, now))
  await inTx(ctx, ({ db }) => deleteNoticeTokensBefore(db, daysAgo(UNSUBSCRIBE_LINK_DAYS)))
  await inTx(ctx, ({ db }) => deleteExpiredCodes(db, now))
  await deleteInBatches(ctx, ({ db }) => deleteDecisionLinksBefore(db, daysAgo(LINK_RETENTION_DAYS), ROWS_PER_BATCH))
  await deleteInBatches(ctx, ({ db }) => deleteMessagesBefore(db, daysAgo(MESSAGE_RETENTION_DAYS), ROWS_PER_BATCH))
  await inTx(ctx, ({ db }) => updateApprovalsWithoutMessages(db, {}))
  await deleteInBatches(ctx, ({ db }) => deleteIdempotencyKeysBefore(db, daysAgo(1), ROWS_PER_BATCH))
  await inTx(ctx, ({ db }) => deleteOldPolicyCounters(db, daysAgo(1).slice(0, 10)))
  await inTx(ctx, ({ db }) => deleteReplicasBefore(db, { before: daysAgo(1) }))
  await inTx(ctx, ({ db }) => deleteCommitMarksBefore(db, { before: daysAgo(1) }))
  await deleteInBatches(ctx, ({ db }) => deleteDeliveriesBefore(db, daysAgo(DELIVERY_RETENTION_DAYS), ROWS_PER_BATCH))
}

/** Each batch is a transaction of its own, so that other writers never wait long. */
async function deleteInBatches(ctx: Ctx, deleteSome: (tx: Tx) => Promise<number>): Promise<void> {
  while ((await inTx(ctx, deleteSome)) === ROWS_PER_BATCH);
}
