import { approveApproval } from '../../approvals/decisions/decide-approval.ts'
import { answerProblem } from '../../approvals/requests/question.ts'
import { parseProposedPayload } from '../../approvals/requests/view.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import { normalizeHandle } from '../../customers/clients/handles.ts'
import { findThreadOfSentMessage } from '../../customers/channels/find-thread.ts'
import { insertInboundMessage } from '../../customers/threads/append-message.ts'
import { updateThreadPosition } from '../../customers/threads/thread-rows.ts'
import type { AnswerByMessage, ClientMessage, Ctx, Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { appendTaskFiles } from '../../work/files/rows.ts'
import { bindFilesToClient } from '../../work/files/usable-files.ts'
import { findOpenQuestion, type OpenQuestion, type QuestionSearch } from './rows.ts'

/**
 * Takes a client's message as the answer to the question that waits in its thread, so that the run continues and no other
 * task starts. A message that cannot be the answer is received like every other. Nothing is an answer while a person has
 * taken the conversation over.
 */
export const answerByMessage: AnswerByMessage = async (ctx, actor, channel, message) => {
  const conversation = message.isAutomatic ? null : await findProvedConversation(ctx, channel.id, message)
  if (!conversation) return null
  const [question] = await findOpenQuestion(ctx.db, {
    project_id: channel.project_id,
    channel_id: channel.id,
    handle: normalizeHandle(message.from.handle),
    ...conversation,
  })
  const answer = question && toAnswer(parseProposedPayload(question), message.writtenText ?? message.body)
  if (!question || answer === undefined) return null
  const scope = { actor: { kind: 'client', id: question.thread_client_id } } as const
  const isAnswered = await approveApproval(ctx, scope, question, { edited: { answer } }, (tx) =>
    appendAnsweringMessage(tx, actor, question, message),
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

/**
 * The conversation in which a message may answer; null: none. Anybody can write a client's address and the subject of a
 * conversation into a mail, so a mail must name something that only the client got.
 */
async function findProvedConversation(
  { db }: Pick<Ctx, 'db'>,
  channelId: string,
  { conversationKey, continues, senderProof }: ClientMessage,
): Promise<Pick<QuestionSearch, 'conversation_key' | 'reply_token' | 'thread_id'> | null> {
  if (!senderProof) return { conversation_key: conversationKey, reply_token: null, thread_id: null }
  if (senderProof === 'failed' || !continues) return null
  const { replyToken: reply_token, externalIds } = continues
  const thread_id = await findThreadOfSentMessage(db, channelId, externalIds)
  return reply_token === null && thread_id === null ? null : { conversation_key: null, reply_token, thread_id }
}

/** What a text means as an answer; undefined if it cannot be one. An option may also be named by its number. */
function toAnswer(preview: Json, written: string): Json | undefined {
  const { schema = null, options = null } = isJsonObject(preview) ? preview : {}
  const text = written.trim()
  if (text === '') return undefined
  const named = Array.isArray(options) ? findOption(options, text) : undefined
  const isNumber = isJsonObject(schema) && (schema.type === 'number' || schema.type === 'integer')
  const answer = named ?? (isNumber ? Number(text) : text)
  return answerProblem(preview, answer) === null ? answer : undefined
}

const findOption = (options: readonly Json[], text: string): Json | undefined =>
  options.find((option) => typeof option === 'string' && option.trim().toLowerCase() === text.toLowerCase()) ??
  (/^\d{1,2}$/.test(text) ? options[Number(text) - 1] : undefined)

/** In the transaction of the decision, which has locked the task. */
async function appendAnsweringMessage(
  tx: Tx,
  actor: Actor,
  question: OpenQuestion,
  { externalId: external_id, ...message }: ClientMessage,
): Promise<void> {
  const { project_id: projectId, thread_id, task_id, thread_client_id: client_id } = question
  await bindFilesToClient(tx.db, { projectId, clientId: client_id }, message.fileIds)
  const [position] = await updateThreadPosition(tx.db, { id: thread_id, now: isoNow(tx) })
  if (!position) return
  const row = await insertInboundMessage(tx, position, { ...message, external_id }, { task_id, is_waiting: 0 })
  await appendTaskFiles(tx.db, task_id, message.fileIds)
  const data = { channel_id: position.channel_id, task_id, thread_id, client_id }
  await appendAuditEntry(tx, projectId, actor, 'message.received', row.id, data)
}
