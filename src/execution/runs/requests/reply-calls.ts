import { ApprovalRefusal, askApproval, waitForApproval } from '../../../approvals/requests/ask-approval.ts'
import { type GatedRequest, requestKey } from '../../../approvals/policy/gated-request.ts'
import { findEffectOfMessage } from '../../../approvals/effects/effect-rows.ts'
import { performAction } from '../../../approvals/effects/perform-action.ts'
import { approvedPayload } from '../../../approvals/requests/view.ts'
import { isJsonObject, type Json } from '../../../platform/base/json.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { updateMessageDelivery } from '../../../customers/threads/message-rows.ts'
import { hasMailedClient } from '../../../customers/threads/reply.ts'
import { insertSendingReply } from '../../../customers/threads/reply-delivery.ts'
import {
  composeReply,
  createReplySender,
  findReplyPath,
  isReplyOfPath,
  listPayloadFiles,
  type ReplyPath,
  replyText,
} from '../../../customers/channels/reply-path.ts'
import { listMessagesSentByTask, updateThreadPosition } from '../../../customers/threads/thread-rows.ts'
import { findClient } from '../../../customers/clients/rows.ts'
import { listReplySteps, requiresReplyApproval } from '../../../platform/contract/wedge/declared-approvals.ts'
import type { Ctx, Tx } from '../../../platform/ctx/ctx.ts'
import { isoNow } from '../../../platform/ctx/world.ts'
import { requireUsableFiles } from '../../../work/files/usable-files.ts'
import type { ApprovalRow } from '../../../platform/store/tables.ts'
import type { ActionBody } from './connection-calls.ts'
import { matchesGate } from './gate-patterns.ts'
import type { ActionResponse } from './perform-approved-action.ts'
import type { RunFacts } from '../session/run-facts.ts'
import type { TaskRun } from '../session/task-run.ts'

/** The way back to the client of the run's thread. Null: answers are shown in the thread without an approval. */
export async function findReplyOfRun(ctx: Pick<Ctx, 'db'>, facts: RunFacts): Promise<ReplyPath | null> {
  const { task, wedge } = facts
  if (task.thread_id === null) return null
  const isApprovalRequired = requiresReplyApproval(wedge.manifest) || listGatedReplySteps(facts).length > 0
  return findReplyPath(ctx.db, task.thread_id, { isApprovalRequired })
}

/** The steps in which the run would ask for the reply, if the reply itself needed no approval. */
export const listGatedReplySteps = (facts: RunFacts): string[] =>
  listReplySteps(facts.wedge.manifest).filter((step) => matchesGate(facts, step))

/** The reply path of the run, if the capability means its reply. Capabilities ignore case, like policy rules. */
export async function findCalledReply(ctx: Ctx, facts: RunFacts, capability: string): Promise<ReplyPath | null> {
  if (facts.task.thread_id === null || !/:reply$/i.test(capability)) return null
  const replyPath = await findReplyOfRun(ctx, facts)
  return replyPath && isReplyOfPath(replyPath, capability) ? replyPath : null
}

/**
 * Replies to the client: composed for the channel, approved by a person or a rule, sent once, shown in the thread. The agent
 * gives `{text, files?}`. A text that the task has sent before is not sent again.
 */
export async function askAndReply(
  ctx: Ctx,
  run: TaskRun,
  replyPath: ReplyPath,
  { connection, payload = {} }: ActionBody,
): Promise<ActionResponse> {
  const key = requestKey('action', replyPath.capability, [connection ?? null, payload])
  const earlier = run.stored.takeEarlierApproval(key)
  if (earlier) {
    const approval = await waitForApproval(ctx, run.gate, earlier)
    return performReply(ctx, run, replyPath, approval)
  }
  const draft = parseDraft(payload)
  const sent = await findSentReply(ctx, run.facts, replyPath, draft.text)
  if (sent) return { ...sent, payload, edited: false }
  await run.log.flush()
  const files = await requireUsableFiles(ctx.db, fileScopeOf(run.facts), draft.fileIds)
  const composed = await composeReply(ctx.db, replyPath, draft.text, files)
  const request: GatedRequest = {
    key,
    action: replyPath.capability,
    path: 'action',
    risk: 'high',
    payload: composed,
    connection: replyPath.sentThrough,
    tool: { phrase: await describeReply(ctx, replyPath), amount: null },
    threadId: replyPath.thread.id,
  }
  const approval = await askApproval(ctx, run.gate, request)
  return performReply(ctx, run, replyPath, approval)
}

const MAX_NAME_CHARACTERS = 100

/** A reply that is shown says where, because no connection does. */
async function describeReply(ctx: Ctx, { thread, channel, sentThrough, capability }: ReplyPath): Promise<string> {
  if (sentThrough) return 'reply to the client'
  const place = capability.startsWith('widget:') ? `chat on ${channel.address}` : 'portal'
  return describeShownReply(ctx, thread, place)
}

export async function describeShownReply(
  ctx: Ctx,
  { project_id, client_id }: { project_id: string; client_id: string | null },
  place: string,
): Promise<string> {
  const client = await findClient(ctx.db, [project_id], client_id ?? '')
  const named = client?.display_name ?? client?.handles.find((handle) => !handle.startsWith('visitor:'))
  const name = (named ?? 'a visitor').replaceAll(/[\p{C}\s]+/gu, ' ').slice(0, MAX_NAME_CHARACTERS)
  return `Reply to ${name} in the ${place}`
}

const fileScopeOf = ({ projectId, task }: RunFacts) => ({ projectId, clientId: task.client_id })

function parseDraft(payload: Json): { text: string; fileIds: string[] } {
  if (!isJsonObject(payload) || typeof payload.text !== 'string' || payload.text.trim() === '')
    throw badRequest("field 'payload.text' must be the text of the reply")
  const files = payload.files ?? []
  if (!Array.isArray(files)) throw badRequest("field 'payload.files' must be a list")
  const fileIds = files.flatMap((file) => (typeof file === 'string' ? [file] : listPayloadFiles(file)))
  return { text: payload.text.replaceAll('\0', ''), fileIds }
}

/** The result of an earlier reply or mail of this task with the same text, whether it was delivered or not. */
async function findSentReply(ctx: Ctx, { taskId, task }: RunFacts, { thread }: ReplyPath, text: string) {
  const sent = await listMessagesSentByTask(ctx.db, { thread_id: thread.id, task_id: taskId })
  const same = sent.find(({ body, delivery }) => delivery !== null && body.trim() === text.trim())
  if (!same) {
    const isMailed = await hasMailedClient(ctx.db, task, thread.id, text)
    return isMailed ? { ok: true, status: null, result: null, already_sent: true, approval_id: '' } : null
  }
  const [effect] = await findEffectOfMessage(ctx.db, { task_id: taskId, message_id: same.id })
  const approval_id = effect?.id ?? ''
  return { ok: same.delivery === 'sent', status: null, result: null, already_sent: true, approval_id }
}

async function performReply(
  ctx: Ctx,
  run: TaskRun,
  replyPath: ReplyPath,
  approval: ApprovalRow,
): Promise<ActionResponse> {
  // The approval is for one connection, and the channel may have another one by now.
  if (approval.connection_id !== (replyPath.sentThrough?.id ?? null))
    throw new ApprovalRefusal('is for another connection')
  const payload = approvedPayload(approval)
  const { send, externalId } = createReplySender(replyPath)
  const sent = await performAction(ctx, {
    run: run.gate,
    approval,
    connection: replyPath.sentThrough,
    messageId: ctx.world.newId('msg'),
    send,
    externalId,
    onClaim: async (tx, { messageId }) => {
      if (messageId !== null) await showSendingReply(tx, run.facts, replyPath, messageId, payload)
    },
  })
  const { ok, status, result, error } = sent
  const edited = approval.edited !== null
  return { ok, status, result, payload, edited, approval_id: approval.id, ...(error !== null && { error }) }
}

/** The message exists already if an earlier process of the run has sent it with an outcome that is not known. */
async function showSendingReply(
  tx: Tx,
  facts: RunFacts,
  replyPath: ReplyPath,
  id: string,
  payload: Json,
): Promise<void> {
  const again = { id, delivery: 'sending', delivery_error: null, external_id: null } as const
  const [earlier] = await updateMessageDelivery(tx.db, again)
  if (earlier) return
  const [position] = await updateThreadPosition(tx.db, { id: replyPath.thread.id, now: isoNow(tx) })
  if (!position) return
  const files = await requireUsableFiles(tx.db, fileScopeOf(facts), listPayloadFiles(payload))
  const fileIds = files.map((file) => file.id)
  await insertSendingReply(tx, position, { id, body: replyText(payload), fileIds, task_id: facts.taskId, author: null })
}
