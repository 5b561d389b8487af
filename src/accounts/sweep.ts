import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import { deleteFailuresBefore, deleteSessionsBefore } from './credential-rows.ts'
import { windowStart } from './login-limit.ts'

/** What has run out is refused anyway: this keeps the tables small. */
export async function sweepAccounts(ctx: Ctx): Promise<void> {
  await inTx(ctx, async (tx) => {
    await deleteSessionsBefore(tx.db, isoNow(tx))
    await deleteFailuresBefore(tx.db, isoTime(windowStart(tx)))
  })
}
