import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { MessageRow, QueuedTask } from '../store/tables.ts'
import { queueTask } from '../tasks/create-task.ts'
import { isAddressedToHandle } from '../clients/handles.ts'
import { insertMessage, type MessagePosition } from './thread-rows.ts'

export interface ReceivedMessage {
  from: { handle: string | null; name: string | null }
  body: string
  subject: string | null
  external_id: string | null
}

/** A client's message goes into its thread, and the task that it asks for into the queue. */
export async function receiveMessage(
  tx: Tx,
  actor: Actor,
  place: MessagePosition,
  plan: QueuedTask,
  { from, body, subject, external_id }: ReceivedMessage,
): Promise<MessageRow> {
  const message = newMessage(tx, place, {
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
    client_id: place.client_id,
    thread_id: place.id,
    input: JSON.stringify({ from, body, subject, thread_id: place.id }),
    actor: JSON.stringify({ kind: 'client', id: place.client_id }),
  }
  await queueTask(tx, task, actor)
  return message
}

/** What is said, whoever says it. */
type MessageContent = Partial<MessageRow> & Pick<MessageRow, 'direction' | 'body' | 'subject' | 'task_id'>

/** A message in the place that was taken for it. */
export function newMessage(tx: Tx, place: MessagePosition, said: MessageContent): MessageRow {
  return {
    id: tx.world.newId('msg'),
    n: place.message_count,
    project_id: place.project_id,
    thread_id: place.id,
    channel_id: place.channel_id,
    from_handle: null,
    from_name: null,
    external_id: null,
    recipients: null,
    created_at: isoNow(tx),
    ...said,
  }
}

/** A mail that the thread's task sent to somebody else is the founder's matter: the client is not shown it. */
export function isVisibleToClient(handles: readonly string[], message: Pick<MessageRow, 'recipients'>): boolean {
  const recipients = parseRecipients(message)
  return recipients === null || isAddressedToHandle(recipients, handles)
}

export function parseRecipients(message: Pick<MessageRow, 'recipients'>): string[] | null {
  const recipients: string[] | null = message.recipients === null ? null : JSON.parse(message.recipients)
  return recipients
}
