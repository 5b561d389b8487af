import { type Ctx, inTx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import { insertWebhookDelivery } from '../events/webhook-event-rows.ts'
import { listUnannouncedExpiries } from './delivery-rows.ts'

/** How long before an approval expires it is told. */
const ANNOUNCE_BEFORE_MS = 60_000

/** Nothing changes when an approval's time runs low, so this looks for them. Each is told once over all replicas. */
export async function announceExpiringApprovals(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  const untold = await listUnannouncedExpiries(ctx.db, toIsoTime(now), toIsoTime(now + ANNOUNCE_BEFORE_MS))
  if (untold.length === 0) return
  await inTx(ctx, async (tx) => {
    for (const one of untold) {
      const told = { id: tx.world.newId('dlv'), event: 'approval.expiring', now: toIsoTime(now) }
      await insertWebhookDelivery(tx.db, { ...one, ...told })
    }
  })
}
