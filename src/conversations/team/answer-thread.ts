import { sendOnce } from '../../approvals/effects/send-once.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { conflict, notFound } from '../../platform/base/problem.ts'
import { newMessage } from '../../customers/threads/append-message.ts'
import { insertSendingReply, type OutgoingReply } from '../../customers/threads/reply-delivery.ts'
import { composeReply, createReplySender, findReplyPath } from '../../customers/channels/reply-path.ts'
import { findMessage } from '../../customers/threads/message-rows.ts'
import { updateMessagesHandled } from '../../customers/threads/sender-rows.ts'
import { insertMessage, type MessagePosition, updateOpenThreadPosition } from '../../customers/threads/thread-rows.ts'
import { updateThreadAnswered, updateThreadRead } from '../../customers/threads/thread-state-rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { publishProjectChange } from '../../work/events/project-changes.ts'
import { insertMessageFiles } from '../../work/files/rows.ts'
import { requireUsableFiles } from '../../work/files/usable-files.ts'
import type { FileRow, MessageRow, ThreadRow } from '../../platform/store/tables.ts'

/**
 * A person's own answer in a thread. It needs no approval: it is their decision. If the channel can reply, the answer is sent
 * at once, through the same ledger as every action; otherwise the client reads it in the portal.
 */
export async function answerThread(
  ctx: Ctx,
  scope: ProjectScope,
  thread: ThreadRow,
  { body, files: ids }: { body: string; files: readonly string[] },
): Promise<MessageRow> {
  const files = await requireUsableFiles(ctx.db, { projectId: scope.projectId, clientId: thread.client_id }, ids)
  const replyPath = await findReplyPath(ctx.db, thread.id)
  if (!replyPath) return inTx(ctx, (tx) => showAnswer(tx, scope, thread, body, files))
  const payload = await composeReply(ctx.db, replyPath, body, files)
  const { send, externalId } = createReplySender(replyPath)
  const reply = { id: ctx.world.newId('msg'), body, fileIds: files.map(({ id }) => id), task_id: null }
  await sendOnce(ctx, {
    id: reply.id,
    projectId: scope.projectId,
    run: null,
    messageId: reply.id,
    action: replyPath.capability,
    payload,
    connection: replyPath.sentThrough,
    call: { send },
    externalId,
    actor: scope.actor,
    onClaim: (tx) => showSendingAnswer(tx, scope, thread, reply),
  })
  const [message] = await findMessage(ctx.db, { id: reply.id })
  // The client was erased in the meantime.
  if (!message) throw notFound('thread')
  return message
}

async function showAnswer(
  tx: Tx,
  scope: ProjectScope,
  { id }: ThreadRow,
  body: string,
  files: readonly FileRow[],
): Promise<MessageRow> {
  const position = await requireOpenThread(tx, id)
  const { kind: author_kind, id: author_id } = scope.actor
  const author = { author_kind, author_id }
  const message = newMessage(tx, position, { direction: 'outbound', body, subject: null, task_id: null, ...author })
  await insertMessage(tx.db, message)
  await insertMessageFiles(
    tx.db,
    message.id,
    files.map((file) => file.id),
  )
  await updateThreadRead(tx.db, id)
  await updateMessagesHandled(tx.db, { thread_id: id, n: message.n })
  await updateThreadAnswered(tx.db, { id })
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'thread.replied', id, { message_id: message.id })
  publishProjectChange(tx, scope.projectId, { kind: 'thread', id, status: position.status })
  return message
}

async function showSendingAnswer(
  tx: Tx,
  scope: ProjectScope,
  { id }: ThreadRow,
  reply: Omit<OutgoingReply, 'author'>,
): Promise<void> {
  const position = await requireOpenThread(tx, id)
  await insertSendingReply(tx, position, { ...reply, author: scope.actor })
  await updateThreadRead(tx.db, id)
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'thread.replied', id, { message_id: reply.id })
}

async function requireOpenThread(tx: Tx, id: string): Promise<MessagePosition> {
  const [position] = await updateOpenThreadPosition(tx.db, { id, now: isoNow(tx) })
  if (!position) throw conflict('thread is closed')
  return position
}
