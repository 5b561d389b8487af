import { appendAuditEntry } from '../../audit/append.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'
import type { UndeliveredReport } from './adapters/adapter.ts'
import { findSentMessage } from '../threads/message-rows.ts'
import { recordReplyDelivery } from '../threads/reply-delivery.ts'
import { lockChannel } from './rows.ts'

/** Marks answers that did not arrive, and that the client still waits. A report about something else changes nothing. */
export async function markUndelivered(
  ctx: Ctx,
  { id: channel_id, project_id }: ChannelRow,
  { externalIds, error }: UndeliveredReport,
): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await lockChannel(tx.db, channel_id))) return
    for (const external_id of externalIds) {
      const [message] = await findSentMessage(tx.db, { channel_id, external_id })
      if (!message || message.delivery === 'failed') continue
      const { id, thread_id } = message
      await recordReplyDelivery(tx, id, { outcome: 'failed', error }, null)
      await appendAuditEntry(tx, project_id, SYSTEM_ACTOR, 'message.undelivered', id, { thread_id })
    }
  })
}
