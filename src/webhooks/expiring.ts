import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { queueDelivery } from '../events/notice-rows.ts'
import { untoldExpiring } from './delivery-rows.ts'

/** How long before an approval expires it is told. */
const BEFORE_MS = 60_000

/** Nothing changes when an approval's time runs low, so this looks for them. Each is told once over all replicas. */
export async function tellExpiring(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  const untold = await untoldExpiring(ctx.db, isoTime(now), isoTime(now + BEFORE_MS))
  if (untold.length === 0) return
  await inTx(ctx, async (tx) => {
    for (const one of untold) {
      const told = { id: tx.world.newId('dlv'), event: 'approval.expiring', now: isoTime(now) }
      await queueDelivery(tx.db, { ...one, ...told })
    }
  })
}
