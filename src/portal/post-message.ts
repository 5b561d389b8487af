import { appendAuditEntry } from '../audit/append.ts'
import { badRequest, conflict, Problem, tooLarge } from '../base/problem.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { MessageRow, QueuedTask, ThreadRow } from '../store/tables.ts'
import { enforceRateLimit } from '../tasks/rate-limit.ts'
import { findChannel } from '../channels/rows.ts'
import { findClient } from '../clients/rows.ts'
import { planInboundTask } from '../channels/inbound.ts'
import { receiveMessage } from '../channels/messages.ts'
import { updateThreadPosition } from '../channels/thread-rows.ts'

const MAX_MESSAGE_CHARACTERS = 10_000
const MAX_MESSAGES_PER_MINUTE = 30

/** A client's word in a thread of theirs, and the task that it asks for. */
export async function postPortalMessage(
  ctx: Ctx,
  scope: ClientScope,
  thread: ThreadRow,
  body: string,
): Promise<MessageRow> {
  checkMessageLength(body)
  const plan = await planMessageTask(ctx, thread)
  return inTx(ctx, async (tx) => {
    // Counted like the creations of a project, under the client's id: exact over all replicas.
    await enforceRateLimit(tx, scope.clientId, MAX_MESSAGES_PER_MINUTE, 'messages')
    const client = await findClient(tx.db, [scope.projectId], scope.clientId)
    const [place] = await updateThreadPosition(tx.db, { id: thread.id, now: isoNow(tx) })
    if (place?.status !== 'open') throw conflict('thread is closed')
    const from = { handle: client?.handles[0] ?? null, name: client?.display_name ?? null }
    const received = { from, body, subject: null, external_id: null }
    const message = await receiveMessage(tx, scope.actor, place, plan, received)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'message.posted', message.id, {
      thread_id: thread.id,
      task_id: plan.id,
    })
    return message
  })
}

/** Characters as people count them, not the halves of which some are made in memory. */
function checkMessageLength(body: string): void {
  if (body.trim() === '') throw badRequest("field 'body' must not be empty")
  if (body.length > MAX_MESSAGE_CHARACTERS && Array.from(body).length > MAX_MESSAGE_CHARACTERS) {
    throw tooLarge('message is longer than 10,000 characters')
  }
}

/** Why a channel takes no messages is the founder's matter: the client learns only that it does not. */
async function planMessageTask(ctx: Ctx, thread: ThreadRow): Promise<QueuedTask> {
  const channel = await findChannel(ctx.db, [thread.project_id], thread.channel_id)
  if (!channel) throw threadClosedToMessages()
  return planInboundTask(ctx, channel).catch((error: unknown) => {
    throw error instanceof Problem ? threadClosedToMessages() : error
  })
}

const threadClosedToMessages = () => conflict('thread takes no messages now')
