import { isAddressedToHandle } from '../clients/handles.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { appendTaskFiles, insertMessageFiles } from '../../work/files/rows.ts'
import type { ChannelRow, MessageRow, QueuedTask } from '../../platform/store/tables.ts'
import { queueTask } from '../../work/tasks/create-task.ts'
import { findUnfinishedTaskOfThread, lockWaitingTask } from '../../work/tasks/thread-task-rows.ts'
import { findWaitReason } from './sender-limit.ts'
import { joinWaitingTask, debouncedUntil } from './debounce.ts'
import { insertMessage, type MessagePosition, updateOpenThreadPosition } from './thread-rows.ts'
import { updateThreadWaiting } from './thread-state-rows.ts'

export interface ReceivedMessage {
  from: { handle: string | null; name: string | null }
  body: string
  subject: string | null
  external_id: string | null
  address?: JsonObject | null
  verdict?: JsonObject | null
  isAutomatic?: boolean
  isUnverified?: boolean
  mayBeForged?: boolean
  sentBy?: string
  isFromOwnServer?: boolean
  /** Files that the sender may use; the caller has checked it. */
  fileIds?: readonly string[]
}

/**
 * Appends a client's message to its open thread, and creates the task that it starts. Within the settle time of the channel
 * it becomes part of the task that still waits. It starts no task if it was written by a program, or if it waits for a
 * person. Null if the thread is closed. Call it after the channel is locked: every transaction locks the
 * channel first, then tasks, then the thread, and the audit log last.
 */
export async function appendInboundMessage(
  tx: Tx,
  actor: Actor,
  { channel, threadId }: { channel: ChannelRow; threadId: string },
  plan: QueuedTask,
  received: ReceivedMessage,
): Promise<MessageRow | null> {
  const [waiting] = channel.settle_s > 0 ? await lockWaitingTask(tx.db, { thread_id: threadId }) : []
  const [position] = await updateOpenThreadPosition(tx.db, { id: threadId, now: isoNow(tx) })
  if (!position) return null
  const reason = received.isAutomatic ? null : await findWaitReason(tx, position, received)
  const startsTask = reason === null && !received.isAutomatic
  const joined = startsTask && waiting ? await joinWaitingTask(tx, channel, waiting, received) : false
  const task_id = startsTask ? (joined && waiting ? waiting.id : plan.id) : null
  const is_waiting = reason === null ? 0 : 1
  const message = await insertInboundMessage(tx, position, received, { task_id, is_waiting })
  if (reason !== null) await updateThreadWaiting(tx.db, { id: threadId, at: message.created_at, reason })
  if (startsTask && !joined) await queueMessageTask(tx, actor, channel, position, plan, received)
  if (task_id !== null) await appendTaskFiles(tx.db, task_id, received.fileIds ?? [])
  return message
}

/** Stores a client's message at its position, with its files. */
export async function insertInboundMessage(
  tx: Tx,
  position: MessagePosition,
  received: ReceivedMessage,
  state: MessageState,
): Promise<MessageRow> {
  const message = toInboundMessage(tx, position, received, state)
  await insertMessage(tx.db, message)
  await insertMessageFiles(tx.db, message.id, received.fileIds ?? [])
  publishProjectChange(tx, position.project_id, { kind: 'thread', id: position.id, status: position.status })
  return message
}

type MessageState = Pick<MessageRow, 'task_id' | 'is_waiting'>

function toInboundMessage(
  tx: Tx,
  position: MessagePosition,
  { from, body, subject, external_id, address, verdict, isAutomatic, isUnverified, sentBy }: ReceivedMessage,
  state: MessageState,
): MessageRow {
  return newMessage(tx, position, {
    direction: 'inbound',
    from_handle: from.handle,
    from_name: from.name,
    body,
    subject,
    ...state,
    external_id,
    address: address ? JSON.stringify(address) : null,
    verdict: verdict ? JSON.stringify(verdict) : null,
    is_automatic: isAutomatic ? 1 : 0,
    is_unverified: isUnverified ? 1 : 0,
    sent_by: sentBy ?? null,
  })
}

/** One run per thread at a time: the task starts at once only if no other task of the thread runs or waits. */
async function queueMessageTask(
  tx: Tx,
  actor: Actor,
  channel: ChannelRow,
  { id: thread_id, client_id }: MessagePosition,
  plan: QueuedTask,
  { from, body, subject, isUnverified }: ReceivedMessage,
): Promise<void> {
  const [other] = await findUnfinishedTaskOfThread(tx.db, { thread_id })
  const task: QueuedTask = {
    ...plan,
    client_id,
    thread_id,
    input: JSON.stringify({ from, body, subject, thread_id, ...(isUnverified && { unverified: true }) }),
    actor: JSON.stringify({ kind: 'client', id: client_id }),
    ready_at: debouncedUntil(tx, channel, plan.created_at),
  }
  await queueTask(tx, task, actor, { mayStart: !other && task.ready_at === null })
}

type MessageContent = Partial<MessageRow> & Pick<MessageRow, 'direction' | 'body' | 'subject' | 'task_id'>

/** The row of a message at a position that was reserved in its thread. */
export function newMessage(tx: Tx, position: MessagePosition, content: MessageContent): MessageRow {
  return {
    id: tx.world.newId('msg'),
    n: position.message_count,
    project_id: position.project_id,
    thread_id: position.id,
    channel_id: position.channel_id,
    from_handle: null,
    from_name: null,
    external_id: null,
    recipients: null,
    author_kind: null,
    author_id: null,
    address: null,
    delivery: null,
    delivery_error: null,
    is_automatic: 0,
    verdict: null,
    is_unverified: 0,
    sent_by: null,
    is_waiting: 0,
    created_at: isoNow(tx),
    ...content,
  }
}

/** Whether the client may see a message. A mail that the task sent to another recipient is hidden from the client. */
export function isVisibleToClient(handles: readonly string[], message: Pick<MessageRow, 'recipients'>): boolean {
  const recipients = parseRecipients(message)
  return recipients === null || isAddressedToHandle(recipients, handles)
}

export function parseRecipients(message: Pick<MessageRow, 'recipients'>): string[] | null {
  const recipients: string[] | null = message.recipients === null ? null : JSON.parse(message.recipients)
  return recipients
}
