import { isAddressedToHandle } from '../clients/handles.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { MessageRow, QueuedTask } from '../store/tables.ts'
import { queueTask } from '../tasks/create-task.ts'
import { insertMessage, type MessagePosition } from './thread-rows.ts'

export interface ReceivedMessage {
  from: { handle: string | null; name: string | null }
  body: string
  subject: string | null
  external_id: string | null
}

/** Appends a client's message to its thread and creates the task that it starts. */
export async function receiveMessage(
  tx: Tx,
  actor: Actor,
  position: MessagePosition,
  plan: QueuedTask,
  { from, body, subject, external_id }: ReceivedMessage,
): Promise<MessageRow> {
  const message = newMessage(tx, position, {
    direction: 'inbound',
    from_handle: from.handle,
    from_name: from.name,
    body,
    subject,
    task_id: plan.id,
    external_id,
  })
  await insertMessage(tx.db, message)
  const task: QueuedTask = {
    ...plan,
    client_id: position.client_id,
    thread_id: position.id,
    input: JSON.stringify({ from, body, subject, thread_id: position.id }),
    actor: JSON.stringify({ kind: 'client', id: position.client_id }),
  }
  await queueTask(tx, task, actor)
  return message
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
