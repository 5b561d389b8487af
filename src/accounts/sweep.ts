import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoTime } from '../ctx/world.ts'
import { deleteFailuresBefore, deleteSessionsBefore } from './credential-rows.ts'
import { windowStart } from './login-limit.ts'
import { sessionBell } from './revoked-bells.ts'

/** What has run out is refused anyway: this keeps the tables small, and ends streams that outlived their session. */
export async function sweepAccounts(ctx: Ctx): Promise<void> {
  await inTx(ctx, async (tx) => {
    for (const hash of await deleteSessionsBefore(tx.db, isoTime(tx.world.clock.now()))) tx.ring(sessionBell(hash))
    await deleteFailuresBefore(tx.db, isoTime(windowStart(tx)))
  })
}
