import { audit } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { changed } from '../events/changes.ts'
import type { Messages, Threads } from '../store/tables.ts'
import { lockChannel } from './channel-rows.ts'
import { closeThread, findThread, newestMessages, reopenThread } from './thread-rows.ts'

export const THREAD_STATUSES = ['open', 'closed'] as const
export type ThreadStatus = (typeof THREAD_STATUSES)[number]

/** The client's next message opens a new thread after a close, and comes here again after a reopening. */
export function setThreadStatus(ctx: Ctx, scope: ProjectScope, was: Threads, status: ThreadStatus): Promise<Threads> {
  return inTx(ctx, async (tx) => {
    const moved = status === 'closed' ? await closeThread(tx.db, was.id, isoNow(tx)) : await reopen(tx, was)
    const thread = await findThread(tx.db, [scope.projectId], was.id)
    if (thread?.status !== status) throw conflict('client has another open thread on this channel')
    const action = status === 'closed' ? 'thread.closed' : 'thread.reopened'
    if (!moved) return thread
    await audit(tx, scope.projectId, scope.actor, action, was.id)
    changed(tx, scope.projectId, { kind: 'thread', id: was.id, status })
    return thread
  })
}

const MOST_MESSAGES = 1000
/** Of their texts: a client may write a megabyte at a time. */
const MOST_BYTES = 4 * 1024 * 1024

/** The newest, oldest first: a thousand, or fewer where they are long. */
export async function messagesOf({ db }: Pick<Ctx, 'db'>, thread: Threads): Promise<Messages[]> {
  const most = { limit: MOST_MESSAGES, bytes: MOST_BYTES }
  return (await newestMessages(db, { thread_id: thread.id, ...most })).toReversed()
}

async function reopen(tx: Tx, thread: Threads): Promise<boolean> {
  if (!(await lockChannel(tx.db, thread.channel_id))) throw conflict('channel of this thread is gone')
  return reopenThread(tx.db, thread, isoNow(tx))
}
