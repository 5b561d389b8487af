import { appendAuditEntry } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import type { MessageRow, ThreadRow } from '../store/tables.ts'
import { lockChannel } from './rows.ts'
import { findThread, listNewestMessages, updateThreadClosed, updateThreadReopened } from './thread-rows.ts'

export const THREAD_STATUSES = ['open', 'closed'] as const
export type ThreadStatus = (typeof THREAD_STATUSES)[number]

/** Closes or reopens a thread. After a close, the client's next message opens a new thread. */
export function changeThreadStatus(
  ctx: Ctx,
  scope: ProjectScope,
  was: ThreadRow,
  status: ThreadStatus,
): Promise<ThreadRow> {
  return inTx(ctx, async (tx) => {
    const isChanged =
      status === 'closed' ? await updateThreadClosed(tx.db, was.id, isoNow(tx)) : await reopenOnChannel(tx, was)
    const thread = await findThread(tx.db, [scope.projectId], was.id)
    if (thread?.status !== status) throw conflict('client has another open thread on this channel')
    const action = status === 'closed' ? 'thread.closed' : 'thread.reopened'
    if (!isChanged) return thread
    await appendAuditEntry(tx, scope.projectId, scope.actor, action, was.id)
    notifyProjectChange(tx, scope.projectId, { kind: 'thread', id: was.id, status })
    return thread
  })
}

const MAX_THREAD_MESSAGES = 1000
/** Limits the total text, because one message may have a megabyte. */
const MAX_THREAD_BYTES = 4 * 1024 * 1024

/** The newest messages of a thread, oldest first, up to both limits. */
export async function readThreadMessages({ db }: Pick<Ctx, 'db'>, thread: ThreadRow): Promise<MessageRow[]> {
  const bounds = { limit: MAX_THREAD_MESSAGES, bytes: MAX_THREAD_BYTES }
  return (await listNewestMessages(db, { thread_id: thread.id, ...bounds })).toReversed()
}

async function reopenOnChannel(tx: Tx, thread: ThreadRow): Promise<boolean> {
  if (!(await lockChannel(tx.db, thread.channel_id))) throw conflict('the channel of this thread was removed')
  return updateThreadReopened(tx.db, thread, isoNow(tx))
}
