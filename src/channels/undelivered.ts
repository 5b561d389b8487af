import { appendAuditEntry } from '../audit/append.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import type { ChannelRow } from '../store/tables.ts'
import type { UndeliveredReport } from './adapters/adapter.ts'
import { lockChannel } from './rows.ts'
import { updateMessageUndelivered, updateThreadUnanswered } from './thread-rows.ts'

const MAX_REPORTED_IDS = 5

/** Marks answers that did not arrive, and that the client still waits. A report about something else changes nothing. */
export async function markUndelivered(
  ctx: Ctx,
  { id: channel_id, project_id }: ChannelRow,
  { externalIds, error }: UndeliveredReport,
): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await lockChannel(tx.db, channel_id))) return
    for (const external_id of externalIds.slice(0, MAX_REPORTED_IDS)) {
      const message = await updateMessageUndelivered(tx.db, { channel_id, external_id, error })
      if (!message) continue
      const { id, thread_id, task_id } = message
      const mark = { id: thread_id, at: isoNow(tx), reason: 'undelivered', task_id }
      const [thread] = await updateThreadUnanswered(tx.db, mark)
      if (thread) notifyProjectChange(tx, project_id, { kind: 'thread', id: thread_id, status: thread.status })
      await appendAuditEntry(tx, project_id, SYSTEM_ACTOR, 'message.undelivered', id, { thread_id })
    }
  })
}
