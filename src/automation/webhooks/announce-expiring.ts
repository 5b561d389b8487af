import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { insertWebhookDelivery } from '../../work/events/webhook-event-rows.ts'
import { listUnannouncedExpiries } from './delivery-rows.ts'

/** `approval.expiring` is sent one minute before the approval expires, and for approvals of a day or longer one hour before. */
const ANNOUNCE_BEFORE_MS = 60_000
const ANNOUNCE_LONG_BEFORE_MS = 3_600_000
const LONG_MS = 86_400_000

/** Queues `approval.expiring` for approvals that expire soon. A unique index allows one delivery for each webhook. */
export async function announceExpiringApprovals(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  const expiries = await listUnannouncedExpiries(ctx.db, {
    now: toIsoTime(now),
    soon: toIsoTime(now + ANNOUNCE_BEFORE_MS),
    soon_if_long: toIsoTime(now + ANNOUNCE_LONG_BEFORE_MS),
    long_since: toIsoTime(now + ANNOUNCE_LONG_BEFORE_MS - LONG_MS),
  })
  if (expiries.length === 0) return
  await inTx(ctx, async (tx) => {
    for (const expiry of expiries) {
      const delivery = { id: tx.world.newId('dlv'), event: 'approval.expiring', now: toIsoTime(now) }
      await insertWebhookDelivery(tx.db, { ...expiry, ...delivery })
    }
  })
}
