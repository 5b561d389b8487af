import { approveApproval } from '../approvals/decide-approval.ts'
import { answerProblem } from '../approvals/question.ts'
import { parseProposedPayload } from '../approvals/view.ts'
import { appendAuditEntry } from '../audit/append.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { normalizeHandle } from '../clients/handles.ts'
import { newMessage } from '../channels/messages.ts'
import { insertMessage, updateThreadPosition } from '../channels/thread-rows.ts'
import type { AnswerByMessage, ClientMessage, Tx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import { appendTaskFiles, insertMessageFiles } from '../files/rows.ts'
import { requireUsableFiles } from '../files/usable-files.ts'
import { findOpenQuestion, type OpenQuestion } from './rows.ts'

/**
 * Takes a client's message as the answer to the question that waits in its thread, so that the run continues and no other
 * task starts. A message that cannot be the answer is received like every other. Nothing is an answer while a person has
 * taken the conversation over.
 */
export const answerByMessage: AnswerByMessage = async (ctx, channel, message) => {
  if (message.isAutomatic) return null
  const [question] = await findOpenQuestion(ctx.db, {
    project_id: channel.project_id,
    channel_id: channel.id,
    handle: normalizeHandle(message.from.handle),
    conversation_key: message.conversationKey,
    reply_token: message.continues?.replyToken ?? '',
  })
  const answer = question && toAnswer(parseProposedPayload(question), message.body)
  if (!question || answer === undefined) return null
  const scope = { actor: { kind: 'client', id: question.thread_client_id } } as const
  const isAnswered = await approveApproval(ctx, scope, question, { edited: { answer } }, (tx) =>
    appendAnsweringMessage(tx, question, message),
  ).then(
    () => true,
    // Another delivery of this message, or another answer, came first.
    (error: unknown) => {
      if (error instanceof Problem && error.status === 409) return false
      throw error
    },
  )
  if (!isAnswered) return null
  return { task_id: question.task_id, thread_id: question.thread_id, client_id: question.thread_client_id }
}

/** What a text means as an answer; undefined if it cannot be one. An option may also be named by its number. */
function toAnswer(preview: Json, body: string): Json | undefined {
  const { schema = null, options = null } = isJsonObject(preview) ? preview : {}
  const text = body.trim()
  const named = Array.isArray(options) ? findOption(options, text) : undefined
  const isNumber = isJsonObject(schema) && (schema.type === 'number' || schema.type === 'integer')
  const answer = named ?? (isNumber && text !== '' ? Number(text) : text)
  return answerProblem(preview, answer) === null ? answer : undefined
}

const findOption = (options: readonly Json[], text: string): Json | undefined =>
  options.find((option) => typeof option === 'string' && option.trim().toLowerCase() === text.toLowerCase()) ??
  (/^\d{1,2}$/.test(text) ? options[Number(text) - 1] : undefined)

/** In the transaction of the decision, which has locked the task. */
async function appendAnsweringMessage(tx: Tx, question: OpenQuestion, message: ClientMessage): Promise<void> {
  const { project_id, thread_id, task_id } = question
  const [position] = await updateThreadPosition(tx.db, { id: thread_id, now: isoNow(tx) })
  if (!position) return
  const { from, body, subject, externalId, address, verdict, fileIds } = message
  const row = newMessage(tx, position, {
    direction: 'inbound',
    from_handle: from.handle,
    from_name: from.name,
    body,
    subject,
    task_id,
    external_id: externalId,
    address: address && JSON.stringify(address),
    verdict: verdict ? JSON.stringify(verdict) : null,
  })
  await requireUsableFiles(tx.db, { projectId: project_id, clientId: question.thread_client_id }, fileIds)
  await insertMessage(tx.db, row)
  await insertMessageFiles(tx.db, row.id, fileIds)
  await appendTaskFiles(tx.db, task_id, fileIds)
  notifyProjectChange(tx, project_id, { kind: 'thread', id: thread_id, status: position.status })
  const data = { channel_id: position.channel_id, task_id, thread_id, client_id: question.thread_client_id }
  await appendAuditEntry(tx, project_id, SYSTEM_ACTOR, 'message.received', row.id, data)
}
