import type { ActionResult } from '../../connections/actions/send-action.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { insertMessageFiles } from '../../work/files/rows.ts'
import { newMessage } from './append-message.ts'
import { findMessageThread, updateMessageDelivery } from './message-rows.ts'
import { updateMessagesHandled } from './sender-rows.ts'
import { insertMessage, type MessagePosition } from './thread-rows.ts'
import { lockThread, updateThreadAnswered, updateThreadUnanswered } from './thread-state-rows.ts'

/** A reply that is about to be sent. */
export interface OutgoingReply {
  /** The message, which has the same id in every attempt. */
  id: string
  body: string
  fileIds: readonly string[]
  task_id: string | null
  author: Actor | null
}

/** Shows the reply in its thread before it is sent, so that a reply whose outcome is lost does not vanish. */
export async function insertSendingReply(tx: Tx, position: MessagePosition, reply: OutgoingReply): Promise<void> {
  const { id, body, fileIds, task_id, author } = reply
  const message = newMessage(tx, position, {
    id,
    direction: 'outbound',
    body,
    subject: null,
    task_id,
    author_kind: author?.kind ?? null,
    author_id: author?.id ?? null,
    delivery: 'sending',
  })
  await insertMessage(tx.db, message)
  await insertMessageFiles(tx.db, id, fileIds)
  publishProjectChange(tx, position.project_id, { kind: 'thread', id: position.id, status: position.status })
}

/**
 * Records how a reply left the service. A delivered one answers the client; after any other the client still waits. Nothing
 * happens if the message was erased.
 */
export async function recordReplyDelivery(
  tx: Tx,
  messageId: string,
  { outcome, error }: Pick<ActionResult, 'outcome' | 'error'>,
  externalId: string | null,
): Promise<void> {
  const [message] = await updateMessageDelivery(tx.db, {
    id: messageId,
    delivery: outcome === 'ok' ? 'sent' : outcome,
    delivery_error: outcome === 'ok' ? null : error,
    external_id: externalId,
  })
  const [thread] = message ? await findMessageThread(tx.db, { id: messageId }) : []
  if (!message || !thread) return
  const mark = { id: thread.id, at: isoNow(tx), reason: 'not_delivered', task_id: message.task_id }
  await lockThread(tx.db, { id: thread.id })
  if (outcome === 'ok' && message.author_id !== null) await updateMessagesHandled(tx.db, message)
  if (outcome === 'ok') await updateThreadAnswered(tx.db, { id: thread.id })
  else await updateThreadUnanswered(tx.db, mark)
  publishProjectChange(tx, thread.project_id, { kind: 'thread', id: thread.id, status: thread.status })
}
