import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { deleteInBatches, ROWS_PER_BATCH } from '../../platform/ctx/delete-in-batches.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { deleteDecisionLinksBefore } from './links/decision-link-rows.ts'
import { deleteExpiredCodes } from './links/link-rows.ts'
import { deleteMessagesBefore, updateApprovalsWithoutMessages } from './message-rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** Until then, a link that is used or expired says so instead of being unknown. */
const LINK_RETENTION_MS = 30 * DAY_MS
/** Longer than any approval waits: a message must be known for as long as it may be rewritten. */
const MESSAGE_RETENTION_MS = 90 * DAY_MS

/** Deletes expired codes and links, and messages that are so old that they cannot change any more. */
export async function deleteOldNotificationRows(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  await inTx(ctx, (tx) => deleteExpiredCodes(tx.db, isoNow(tx)))
  const linksBefore = toIsoTime(now - LINK_RETENTION_MS)
  await deleteInBatches(ctx, (tx) => deleteDecisionLinksBefore(tx.db, linksBefore, ROWS_PER_BATCH))
  const messagesBefore = toIsoTime(now - MESSAGE_RETENTION_MS)
  await deleteInBatches(ctx, (tx) => deleteMessagesBefore(tx.db, messagesBefore, ROWS_PER_BATCH))
  await inTx(ctx, (tx) => updateApprovalsWithoutMessages(tx.db, {}))
}
