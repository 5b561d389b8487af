import type { HistoryMessage } from '../../platform/contract/agent-protocol.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Db } from '../../platform/store/store.ts'
import type { MessageRow, ThreadRow } from '../../platform/store/tables.ts'
import { parseRecipients } from './append-message.ts'
import { listNewestMessages } from './thread-rows.ts'

interface HistoryLimits {
  messages: number
  characters: number
}

const HISTORY_LIMITS: HistoryLimits = { messages: 50, characters: 40_000 }

/** The messages of a thread for the brief of a task: the newest that fit, oldest first. */
export async function readThreadHistory(db: Db, threadId: string, limits = HISTORY_LIMITS): Promise<HistoryMessage[]> {
  // A UTF-16 unit takes at most three bytes of UTF-8, so this reads at least as many characters as fit.
  const bounds = { limit: limits.messages, bytes: 3 * limits.characters }
  const newestFirst = await listNewestMessages(db, { thread_id: threadId, ...bounds })
  return newestThatFit(newestFirst, limits.characters).map(toHistoryMessage).toReversed()
}

/** Whole messages without a gap. Only the newest is cut, if it alone is too long. */
function newestThatFit(newestFirst: readonly MessageRow[], characters: number): MessageRow[] {
  const [newest, ...older] = newestFirst
  if (!newest) return []
  const kept = [cutBody(newest, characters)]
  let left = characters - newest.body.length
  for (const message of older) {
    left -= message.body.length
    if (left < 0) break
    kept.push(message)
  }
  return kept
}

function cutBody(message: MessageRow, characters: number): MessageRow {
  if (message.body.length <= characters) return message
  const start = message.body.slice(0, characters).replace(HALF_SURROGATE_PAIR, '')
  return { ...message, body: `${start}\n[cut: ${message.body.length} characters in total]` }
}

const HALF_SURROGATE_PAIR = /[\uD800-\uDBFF]$/

function toHistoryMessage(message: MessageRow): HistoryMessage {
  const { body, created_at } = message
  const direction = message.direction === 'inbound' ? 'inbound' : 'outbound'
  return {
    direction,
    from: oneLine(direction === 'inbound' ? clientSender(message) : ownSender(message)),
    body,
    at: created_at,
    ...(message.is_unverified === 1 && { unverified: true }),
  }
}

function clientSender({ from_name, from_handle }: MessageRow): string {
  if (from_name && from_handle) return `${from_name} <${from_handle}>`
  return from_name || from_handle || 'the client'
}

function ownSender(message: MessageRow): string {
  const recipients = parseRecipients(message)
  return recipients ? `us, by mail to ${recipients.join(', ')}` : 'us'
}

/** Line breaks are removed from a sender, so that a name cannot look like the next message. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

const MAX_THREAD_MESSAGES = 1000
/** Limits the total text, because one message may have a megabyte. */
const MAX_THREAD_BYTES = 4 * 1024 * 1024

/** The newest messages of a thread, oldest first, up to both limits. */
export async function readThreadMessages({ db }: Pick<Ctx, 'db'>, thread: ThreadRow): Promise<MessageRow[]> {
  const bounds = { limit: MAX_THREAD_MESSAGES, bytes: MAX_THREAD_BYTES }
  return (await listNewestMessages(db, { thread_id: thread.id, ...bounds })).toReversed()
}
