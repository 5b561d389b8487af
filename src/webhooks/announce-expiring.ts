import { type Ctx, inTx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import { insertWebhookDelivery } from '../events/webhook-event-rows.ts'
import { listUnannouncedExpiries } from './delivery-rows.ts'

/** `approval.expiring` is sent one minute before the approval expires. */
const ANNOUNCE_BEFORE_MS = 60_000

/** Queues `approval.expiring` for approvals that expire soon. A unique index allows one delivery for each webhook. */
export async function announceExpiringApprovals(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  const expiries = await listUnannouncedExpiries(ctx.db, toIsoTime(now), toIsoTime(now + ANNOUNCE_BEFORE_MS))
  if (expiries.length === 0) return
  await inTx(ctx, async (tx) => {
    for (const expiry of expiries) {
      const delivery = { id: tx.world.newId('dlv'), event: 'approval.expiring', now: toIsoTime(now) }
      await insertWebhookDelivery(tx.db, { ...expiry, ...delivery })
    }
  })
}
