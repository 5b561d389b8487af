import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { isoTime } from '../ctx/world.ts'
import type { Messages, Tasks } from '../store/tables.ts'
import { queueTask } from '../tasks/create.ts'
import { insertMessage, type Place, placeIn, sentByTask } from './thread-rows.ts'

export interface Received {
  from: { handle: string | null; name: string | null }
  body: string
  subject: string | null
  external_id: string | null
}

/** A client's message goes into its thread, and the task that it asks for into the queue. */
export async function receive(
  tx: Tx,
  actor: Actor,
  place: Place,
  plan: Tasks,
  { from, body, subject, external_id }: Received,
): Promise<Messages> {
  const message = messageAt(tx, place, {
    direction: 'inbound',
    from_handle: from.handle,
    from_name: from.name,
    body,
    subject,
    task_id: plan.id,
    external_id,
  })
  await insertMessage(tx.db, message)
  const task: Tasks = {
    ...plan,
    client_id: place.client_id,
    thread_id: place.id,
    input: JSON.stringify({ from, body, subject, thread_id: place.id }),
    actor: JSON.stringify({ kind: 'client', id: place.client_id }),
  }
  await queueTask(tx, task, actor)
  return message
}

/** The reply of a thread's task, unless the task has said just that already, by mail. */
export async function appendReply(tx: Tx, task: Tasks, reply: string): Promise<void> {
  if (task.thread_id === null || reply.trim() === '') return
  const said = await sentByTask(tx.db, { thread_id: task.thread_id, task_id: task.id })
  if (said.some(({ body }) => body.trim() === reply.trim())) return
  await sendInto(tx, task.thread_id, { body: reply, subject: null, task_id: task.id })
}

export interface SentMail {
  body: string
  subject: string | null
  to: string | readonly string[]
}

/** A mail that a thread's task has sent. It may have gone to somebody else, so it is kept with whom it went to. */
export async function keepSentMail(tx: Tx, task: Tasks, { body, subject, to }: SentMail): Promise<void> {
  if (task.thread_id === null) return
  const recipients = JSON.stringify([to].flat())
  await sendInto(tx, task.thread_id, { body, subject, task_id: task.id, recipients })
}

export function recipientsOf(message: Pick<Messages, 'recipients'>): string[] | null {
  const recipients: string[] | null = message.recipients === null ? null : JSON.parse(message.recipients)
  return recipients
}

type Sent = Pick<Messages, 'body' | 'subject' | 'task_id'> & { recipients?: string }

async function sendInto(tx: Tx, threadId: string, sent: Sent): Promise<void> {
  const [place] = await placeIn(tx.db, { id: threadId, now: isoTime(tx.world.clock.now()) })
  if (place) await insertMessage(tx.db, messageAt(tx, place, { direction: 'outbound', ...sent }))
}

type Said = Partial<Messages> & Pick<Messages, 'direction' | 'body' | 'subject' | 'task_id'>

function messageAt(tx: Tx, place: Place, said: Said): Messages {
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
    created_at: isoTime(tx.world.clock.now()),
    ...said,
  }
}
