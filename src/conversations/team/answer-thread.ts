import { insertEffect, updateEffectOutcome } from '../../approvals/effects/effect-rows.ts'
import { hashPayload } from '../../approvals/requests/ask-approval.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { conflict } from '../../platform/base/problem.ts'
import { newMessage } from '../../customers/threads/append-message.ts'
import { insertSendingReply, recordReplyDelivery } from '../../customers/threads/reply-delivery.ts'
import { composeReply, createReplySender, findReplyPath, type ReplyPath } from '../../customers/channels/reply-path.ts'
import { findMessage } from '../../customers/threads/message-rows.ts'
import { updateMessagesHandled } from '../../customers/threads/sender-rows.ts'
import { insertMessage, type MessagePosition, updateOpenThreadPosition } from '../../customers/threads/thread-rows.ts'
import { updateThreadAnswered, updateThreadRead } from '../../customers/threads/thread-state-rows.ts'
import { type ActionResult, DONE_WITHOUT_CALL, sendAction } from '../../connections/actions/send-action.ts'
import { type Ctx, inDurableTx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
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
  const message = await inTx(ctx, (tx) => claimAnswer(tx, scope, replyPath, payload, body, files))
  const { send, externalId } = createReplySender(replyPath)
  const idempotencyKey = message.id
  const request = { capability: replyPath.capability, payload, idempotencyKey, runSignal: NEVER_ABORTED, send }
  const result = replyPath.sentThrough ? await sendAction(ctx, replyPath.sentThrough, request) : DONE_WITHOUT_CALL
  // The answer was sent, so its outcome is written as soon as the store is available.
  await inDurableTx(ctx, (tx) => recordOutcome(tx, scope, replyPath, message, payload, result, externalId()))
  return (await findMessage(ctx.db, { id: message.id }))[0] ?? message
}

/** The answer does not belong to a run that could end. */
const NEVER_ABORTED = { aborted: false }

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

/** Stores the answer and its effect before it is sent: after a crash its outcome is `unknown`, and it is not sent again. */
async function claimAnswer(
  tx: Tx,
  scope: ProjectScope,
  { thread, sentThrough, capability }: ReplyPath,
  payload: JsonObject,
  body: string,
  files: readonly FileRow[],
): Promise<MessageRow> {
  const position = await requireOpenThread(tx, thread.id)
  const reply = { id: tx.world.newId('msg'), body, fileIds: files.map((file) => file.id), task_id: null }
  const message = await insertSendingReply(tx, position, { ...reply, author: scope.actor })
  await updateThreadRead(tx.db, thread.id)
  await insertEffect(tx.db, {
    approval_id: message.id,
    project_id: scope.projectId,
    task_id: null,
    connection_id: sentThrough?.id ?? null,
    connection: sentThrough?.name ?? null,
    action: capability,
    payload_sha256: hashPayload(payload),
    replica: tx.replica,
    created_at: isoNow(tx),
  })
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'thread.replied', thread.id, { message_id: message.id })
  return message
}

async function recordOutcome(
  tx: Tx,
  scope: ProjectScope,
  { sentThrough, capability: action }: ReplyPath,
  { id }: MessageRow,
  payload: JsonObject,
  result: ActionResult,
  externalId: string | null,
): Promise<void> {
  const { outcome, status, error } = result
  const known = { outcome, status, error, result: null, finished_at: isoNow(tx) }
  const [updated] = await updateEffectOutcome(tx.db, { approval_id: id, replica: tx.replica, ...known })
  // Another replica took this one for dead and has already written `unknown`.
  if (!updated) return
  await recordReplyDelivery(tx, id, result, externalId)
  const sent = { action, connection_id: sentThrough?.id ?? null, payload_sha256: hashPayload(payload), outcome, status }
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'action.executed', id, sent)
}

async function requireOpenThread(tx: Tx, id: string): Promise<MessagePosition> {
  const [position] = await updateOpenThreadPosition(tx.db, { id, now: isoNow(tx) })
  if (!position) throw conflict('thread is closed')
  return position
}
