import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { type ClientWithHandles, findClient } from '../clients/rows.ts'
import { listFileReferences } from '../../platform/contract/file-reference.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { insertMessageFiles } from '../../work/files/rows.ts'
import type { Db } from '../../platform/store/store.ts'
import type { MessageRow, TaskRow } from '../../platform/store/tables.ts'
import { isVisibleToClient, newMessage } from './append-message.ts'
import { insertMessage, listMessagesSentByTask, updateThreadPosition } from './thread-rows.ts'
import { updateThreadAnswered } from './thread-state-rows.ts'

/** Appends the reply of a task to its thread, unless the task has already mailed the same text to the client. */
export async function appendTaskReply(tx: Tx, task: TaskRow, reply: string): Promise<void> {
  if (task.thread_id === null || reply.trim() === '') return
  if (await hasMailedClient(tx.db, task, task.thread_id, reply)) return
  await insertOutboundMessage(tx, task.thread_id, { body: reply, subject: null, task_id: task.id })
  await updateThreadAnswered(tx.db, { id: task.thread_id })
}

/** Appends a question for the client to the thread of its task. No mail is sent: that needs an approval. */
export async function appendTaskMessage(tx: Tx, task: ThreadedTask, body: string): Promise<void> {
  if (task.thread_id === null) return
  await insertOutboundMessage(tx, task.thread_id, { body, subject: null, task_id: task.id })
}

/** Appends a notice of the service to the thread of a task. It is shown where clients read the thread, and never sent. */
export async function appendNotice(tx: Tx, task: ThreadedTask, body: string): Promise<void> {
  if (task.thread_id === null) return
  await insertOutboundMessage(tx, task.thread_id, { body, subject: null, task_id: task.id, is_automatic: 1 })
}

/** Appends the client's answer to a question to the thread of the task that asked. It starts no other task. */
export async function appendAnswer(
  tx: Tx,
  task: ThreadedTask,
  client: ClientWithHandles,
  answer: string,
): Promise<void> {
  const [position] = task.thread_id ? await updateThreadPosition(tx.db, { id: task.thread_id, now: isoNow(tx) }) : []
  if (!position) return
  const from = { from_handle: client.handles[0] ?? null, from_name: client.display_name }
  const body = answer.replaceAll('\0', '')
  await insertMessage(
    tx.db,
    newMessage(tx, position, { direction: 'inbound', ...from, body, subject: null, task_id: task.id }),
  )
  publishProjectChange(tx, position.project_id, { kind: 'thread', id: position.id, status: position.status })
}

type ThreadedTask = Pick<TaskRow, 'id' | 'thread_id'>

export interface SentMail {
  body: string
  subject: string | null
  to: string | readonly string[]
  /** The ids of the attachments. */
  files: readonly string[]
}

/** Reads the mail from the payload of an email action, by the field names of common mail APIs; null without a text. */
export function parseSentMail(payload: Json): SentMail | null {
  if (!isJsonObject(payload)) return null
  const body = ['text', 'body', 'html', 'content'].map((key) => payload[key]).find((value) => typeof value === 'string')
  if (typeof body !== 'string') return null
  const { subject, to, cc } = payload
  const recipients = [to, cc].flat().filter((one) => typeof one === 'string')
  const files = listFileReferences(payload).map(({ $file }) => $file)
  return { body, subject: typeof subject === 'string' ? subject : null, to: recipients, files: [...new Set(files)] }
}

/** Appends a mail that a task sent to its thread, with the recipients, which need not be the client. */
export async function recordSentMail(tx: Tx, task: TaskRow, { body, subject, to, files }: SentMail): Promise<void> {
  if (task.thread_id === null) return
  const recipients = JSON.stringify([to].flat())
  await insertOutboundMessage(tx, task.thread_id, { body, subject, task_id: task.id, recipients }, files)
  const client = await findClient(tx.db, [task.project_id], task.client_id ?? '')
  if (client && isVisibleToClient(client.handles, { recipients }))
    await updateThreadAnswered(tx.db, { id: task.thread_id })
}

type OutboundMessage = Pick<MessageRow, 'body' | 'subject' | 'task_id'> & { recipients?: string; is_automatic?: 1 }

async function insertOutboundMessage(
  tx: Tx,
  threadId: string,
  sent: OutboundMessage,
  files: readonly string[] = [],
): Promise<void> {
  const [position] = await updateThreadPosition(tx.db, { id: threadId, now: isoNow(tx) })
  if (!position) return
  const message = newMessage(tx, position, { direction: 'outbound', ...sent })
  await insertMessage(tx.db, message)
  await insertMessageFiles(tx.db, message.id, files)
}

/** Whether the task has already mailed this text to the client with an action of its own. */
export async function hasMailedClient(db: Db, task: TaskRow, threadId: string, reply: string): Promise<boolean> {
  const sent = await listMessagesSentByTask(db, { thread_id: threadId, task_id: task.id })
  const same = sent.filter(({ body }) => body.trim() === reply.trim())
  if (same.length === 0) return false
  const client = await findClient(db, [task.project_id], task.client_id ?? '')
  return same.some((message) => isVisibleToClient(client?.handles ?? [], message))
}
