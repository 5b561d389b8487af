import { type Ctx, inTx } from '../ctx/ctx.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { deleteLoginFailuresBefore, deleteExpiredSessions } from './credential-rows.ts'
import { failureWindowStart } from './login-limit.ts'

/** What has run out is refused anyway: this keeps the tables small. */
export async function deleteExpiredCredentials(ctx: Ctx): Promise<void> {
  await inTx(ctx, async (tx) => {
    await deleteExpiredSessions(tx.db, isoNow(tx))
    await deleteLoginFailuresBefore(tx.db, toIsoTime(failureWindowStart(tx)))
  })
}
