import { appendAuditEntry } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import type { MessageRow, TaskRow, ThreadRow } from '../store/tables.ts'
import { findClient } from '../clients/rows.ts'
import { isVisibleToClient, newMessage } from './messages.ts'
import { insertMessage, updateThreadPosition, listMessagesSentByTask } from './thread-rows.ts'

/** A person's own words to the client. They are said in the thread only: what leaves the service passes the gate. */
export function replyToThread(ctx: Ctx, scope: ProjectScope, { id }: ThreadRow, body: string): Promise<MessageRow> {
  return inTx(ctx, async (tx) => {
    const [place] = await updateThreadPosition(tx.db, { id, now: isoNow(tx) })
    if (place?.status !== 'open') throw conflict('thread is closed')
    const message = newMessage(tx, place, { direction: 'outbound', body, subject: null, task_id: null })
    await insertMessage(tx.db, message)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'thread.replied', id, { message_id: message.id })
    notifyProjectChange(tx, scope.projectId, { kind: 'thread', id, status: place.status })
    return message
  })
}

/** The reply of a thread's task, unless the task has said just that to the client already, by mail. */
export async function appendTaskReply(tx: Tx, task: TaskRow, reply: string): Promise<void> {
  if (task.thread_id === null || reply.trim() === '') return
  if (await hasMailedClient(tx, task, task.thread_id, reply)) return
  await insertOutboundMessage(tx, task.thread_id, { body: reply, subject: null, task_id: task.id })
}

export interface SentMail {
  body: string
  subject: string | null
  to: string | readonly string[]
}

/** A mail that a thread's task has sent. It may have gone to somebody else, so it is kept with whom it went to. */
export async function recordSentMail(tx: Tx, task: TaskRow, { body, subject, to }: SentMail): Promise<void> {
  if (task.thread_id === null) return
  const recipients = JSON.stringify([to].flat())
  await insertOutboundMessage(tx, task.thread_id, { body, subject, task_id: task.id, recipients })
}

type OutboundMessage = Pick<MessageRow, 'body' | 'subject' | 'task_id'> & { recipients?: string }

async function insertOutboundMessage(tx: Tx, threadId: string, sent: OutboundMessage): Promise<void> {
  const [place] = await updateThreadPosition(tx.db, { id: threadId, now: isoNow(tx) })
  if (place) await insertMessage(tx.db, newMessage(tx, place, { direction: 'outbound', ...sent }))
}

async function hasMailedClient(tx: Tx, task: TaskRow, threadId: string, reply: string): Promise<boolean> {
  const sent = await listMessagesSentByTask(tx.db, { thread_id: threadId, task_id: task.id })
  const same = sent.filter(({ body }) => body.trim() === reply.trim())
  if (same.length === 0) return false
  const client = await findClient(tx.db, [task.project_id], task.client_id ?? '')
  return same.some((message) => isVisibleToClient(client?.handles ?? [], message))
}
