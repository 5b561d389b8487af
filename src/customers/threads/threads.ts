import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { MessageRow, ThreadRow } from '../../platform/store/tables.ts'
import { listNewestMessages } from './thread-rows.ts'

export const THREAD_STATUSES = ['open', 'closed'] as const
export type ThreadStatus = (typeof THREAD_STATUSES)[number]

const MAX_THREAD_MESSAGES = 1000
/** Limits the total text, because one message may have a megabyte. */
const MAX_THREAD_BYTES = 4 * 1024 * 1024

/** The newest messages of a thread, oldest first, up to both limits. */
export async function readThreadMessages({ db }: Pick<Ctx, 'db'>, thread: ThreadRow): Promise<MessageRow[]> {
  const bounds = { limit: MAX_THREAD_MESSAGES, bytes: MAX_THREAD_BYTES }
  return (await listNewestMessages(db, { thread_id: thread.id, ...bounds })).toReversed()
}
