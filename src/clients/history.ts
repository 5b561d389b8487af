import type { HistoryMessage } from '../base/protocol.ts'
import type { Db } from '../store/store.ts'
import type { Messages } from '../store/tables.ts'
import { recipientsOf } from './messages.ts'
import { newestMessages } from './thread-rows.ts'

interface HistoryLimits {
  messages: number
  characters: number
}

const LIMITS: HistoryLimits = { messages: 50, characters: 40_000 }

/** What was said in a thread, for the brief of a task: the newest that fit, oldest first. */
export async function historyOf(db: Db, threadId: string, limits = LIMITS): Promise<HistoryMessage[]> {
  // A character has three bytes at most, or four and counts as two: what fits is among these.
  const most = { limit: limits.messages, bytes: 3 * limits.characters }
  const newestFirst = await newestMessages(db, { thread_id: threadId, ...most })
  return fitting(newestFirst, limits.characters).map(shown).toReversed()
}

/** Whole messages without a gap; only the newest is cut when it alone is too long. */
function fitting(newestFirst: readonly Messages[], characters: number): Messages[] {
  const [newest, ...older] = newestFirst
  if (!newest) return []
  const kept = [cut(newest, characters)]
  let left = characters - newest.body.length
  for (const message of older) {
    left -= message.body.length
    if (left < 0) break
    kept.push(message)
  }
  return kept
}

function cut(message: Messages, characters: number): Messages {
  if (message.body.length <= characters) return message
  const start = message.body.slice(0, characters).replace(HALF_CHARACTER, '')
  return { ...message, body: `${start}\n[cut: ${message.body.length} characters in all]` }
}

const HALF_CHARACTER = /[\uD800-\uDBFF]$/

function shown(message: Messages): HistoryMessage {
  const { body, created_at } = message
  const direction = message.direction === 'inbound' ? 'inbound' : 'outbound'
  return { direction, from: oneLine(direction === 'inbound' ? senderOf(message) : ours(message)), body, at: created_at }
}

function senderOf({ from_name, from_handle }: Messages): string {
  if (from_name && from_handle) return `${from_name} <${from_handle}>`
  return from_name || from_handle || 'the client'
}

function ours(message: Messages): string {
  const recipients = recipientsOf(message)
  return recipients ? `us, by mail to ${recipients.join(', ')}` : 'us'
}

/** A name must not be able to look like the next message. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
