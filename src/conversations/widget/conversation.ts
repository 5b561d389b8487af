import type { AdapterChannel } from '../../customers/channels/adapters/adapter.ts'
import { visitorHandle } from '../../customers/channels/adapters/widget.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { updateThreadReadByClient } from '../portal/notice-rows.ts'
import { findUnfinishedTaskOfThread } from '../../work/tasks/thread-task-rows.ts'
import { findVisitorThread, listMessagesForVisitor, type VisitorMessage, type VisitorThread } from './rows.ts'

const MAX_MESSAGES = 200

export interface VisitorConversation {
  thread: VisitorThread | null
  messages: VisitorMessage[]
  isWorking: boolean
}

/** The newest conversation of a visitor. If the visitor sees it, no mail about its answers is needed. */
export async function readVisitorConversation(
  ctx: Ctx,
  channel: AdapterChannel,
  { visitor, after, is_open }: { visitor: string; after: number; is_open: boolean },
): Promise<VisitorConversation> {
  const { id: channel_id, project_id } = channel
  const handle = visitorHandle(channel, visitor)
  const [thread] = await findVisitorThread(ctx.db, { project_id, channel_id, handle })
  if (!thread) return { thread: null, messages: [], isWorking: false }
  const range = { thread_id: thread.id, after: Math.max(after, thread.message_count - MAX_MESSAGES) }
  const messages = await listMessagesForVisitor(ctx.db, { ...range, limit: MAX_MESSAGES })
  const [task] = thread.held_by_kind === null ? await findUnfinishedTaskOfThread(ctx.db, { thread_id: thread.id }) : []
  if (is_open && thread.client_read_count < thread.message_count)
    await inTx(ctx, (tx) => updateThreadReadByClient(tx.db, thread.id))
  return { thread, messages, isWorking: task !== undefined }
}
