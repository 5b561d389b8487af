import { audit } from '../audit/append.ts'
import { conflict } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { changed } from '../events/changes.ts'
import type { Messages, Tasks, Threads } from '../store/tables.ts'
import { findClient } from './client-rows.ts'
import { isFor, messageAt } from './messages.ts'
import { insertMessage, placeIn, sentByTask } from './thread-rows.ts'

/** A person's own words to the client. They are said in the thread only: what leaves the service passes the gate. */
export function answerThread(ctx: Ctx, scope: ProjectScope, { id }: Threads, body: string): Promise<Messages> {
  return inTx(ctx, async (tx) => {
    const [place] = await placeIn(tx.db, { id, now: isoNow(tx) })
    if (place?.status !== 'open') throw conflict('thread is closed')
    const message = messageAt(tx, place, { direction: 'outbound', body, subject: null, task_id: null })
    await insertMessage(tx.db, message)
    await audit(tx, scope.projectId, scope.actor, 'thread.replied', id, { message_id: message.id })
    changed(tx, scope.projectId, { kind: 'thread', id, status: place.status })
    return message
  })
}

/** The reply of a thread's task, unless the task has said just that to the client already, by mail. */
export async function appendReply(tx: Tx, task: Tasks, reply: string): Promise<void> {
  if (task.thread_id === null || reply.trim() === '') return
  if (await hasSaid(tx, task, task.thread_id, reply)) return
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

type Sent = Pick<Messages, 'body' | 'subject' | 'task_id'> & { recipients?: string }

async function sendInto(tx: Tx, threadId: string, sent: Sent): Promise<void> {
  const [place] = await placeIn(tx.db, { id: threadId, now: isoNow(tx) })
  if (place) await insertMessage(tx.db, messageAt(tx, place, { direction: 'outbound', ...sent }))
}

async function hasSaid(tx: Tx, task: Tasks, threadId: string, reply: string): Promise<boolean> {
  const sent = await sentByTask(tx.db, { thread_id: threadId, task_id: task.id })
  const same = sent.filter(({ body }) => body.trim() === reply.trim())
  if (same.length === 0) return false
  const client = await findClient(tx.db, [task.project_id], task.client_id ?? '')
  return same.some((message) => isFor(client?.handles ?? [], message))
}
