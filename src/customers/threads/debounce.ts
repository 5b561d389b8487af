import type { Tx } from '../../platform/ctx/ctx.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'
import { updateWaitingTask, type WaitingTask } from '../../work/tasks/thread-task-rows.ts'
import type { ReceivedMessage } from './append-message.ts'

/** The input of a task that messages have started. `messages` is there once a second message has joined. */
interface MessageInput {
  from: ReceivedMessage['from']
  body: string
  subject: string | null
  thread_id: string
  unverified?: true
  messages?: JoinedMessage[]
}

interface JoinedMessage extends Pick<ReceivedMessage, 'from' | 'body' | 'subject'> {
  at: string
  unverified?: true
}

/** Every message extends the wait, up to this many settle times after the first one. */
const MAX_SETTLE_TIMES = 5
export const MAX_JOINED_CHARACTERS = 200_000

/** The input of the task of these messages, oldest first. It is unverified if one of them is. */
export function joinMessages(thread_id: string, messages: readonly JoinedMessage[]): MessageInput {
  const listed = messages.map(({ from, body, subject, at, unverified }) => ({
    from,
    body,
    subject,
    at,
    ...(unverified && { unverified }),
  }))
  const [first] = listed
  if (!first) throw new Error('a task needs a message')
  const { from, subject } = first
  const body = listed.map((message) => message.body).join('\n\n')
  return {
    from,
    body,
    subject,
    thread_id,
    ...(listed.some(({ unverified }) => unverified) && { unverified: true as const }),
    ...(listed.length > 1 && { messages: listed }),
  }
}

/** When the task of a message may start; null: at once. */
export function debouncedUntil(tx: Tx, { settle_s }: ChannelRow, firstAt: string): string | null {
  if (settle_s === 0) return null
  const afterThis = tx.world.clock.now() + settle_s * 1000
  const latest = Date.parse(firstAt) + MAX_SETTLE_TIMES * settle_s * 1000
  return toIsoTime(Math.min(afterThis, latest))
}

/**
 * Adds a message to the input of a task that waits. False if the input would be too long, or if only one of both is proved: a
 * stranger's text would become a part of what the client has written.
 */
export async function joinWaitingTask(
  tx: Tx,
  channel: ChannelRow,
  { id, input: text, created_at }: WaitingTask,
  { from, body, subject, isUnverified = false }: ReceivedMessage,
): Promise<boolean> {
  const input: MessageInput = JSON.parse(text)
  if (isUnverified !== (input.unverified ?? false)) return false
  const mark = isUnverified && { unverified: true as const }
  const earlier = input.messages ?? [
    { from: input.from, body: input.body, subject: input.subject, at: created_at, ...mark },
  ]
  const joined = joinMessages(input.thread_id, [...earlier, { from, body, subject, at: isoNow(tx), ...mark }])
  if (joined.body.length > MAX_JOINED_CHARACTERS) return false
  await updateWaitingTask(tx.db, {
    id,
    input: JSON.stringify(joined),
    ready_at: debouncedUntil(tx, channel, created_at),
  })
  return true
}
