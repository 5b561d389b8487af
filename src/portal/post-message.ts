import { appendAuditEntry } from '../audit/append.ts'
import { badRequest, conflict, Problem, tooLarge } from '../base/problem.ts'
import { planInboundTask } from '../channels/inbound.ts'
import { receiveMessage } from '../channels/messages.ts'
import { findChannel, lockReceivingChannel } from '../channels/rows.ts'
import { findClient } from '../clients/rows.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { ChannelRow, MessageRow, QueuedTask, ThreadRow } from '../store/tables.ts'
import { enforceRateLimit } from '../tasks/rate-limit.ts'

const MAX_MESSAGE_CHARACTERS = 10_000
const MAX_MESSAGES_PER_MINUTE = 30

/** Posts a client's message to one of its threads and creates the task that the message starts. */
export async function postPortalMessage(
  ctx: Ctx,
  scope: ClientScope,
  thread: ThreadRow,
  body: string,
): Promise<MessageRow> {
  checkMessageLength(body)
  const { channel, plan } = await planMessageTask(ctx, thread)
  return inTx(ctx, async (tx) => {
    // The rate limit counts by client id here, and by project id for tasks.
    await enforceRateLimit(tx, scope.clientId, MAX_MESSAGES_PER_MINUTE, 'messages')
    const client = await findClient(tx.db, [scope.projectId], scope.clientId)
    if (!(await lockReceivingChannel(tx.db, channel.id, isoNow(tx)))) throw threadClosedToMessages()
    const from = { handle: client?.handles[0] ?? null, name: client?.display_name ?? null }
    const received = { from, body, subject: null, external_id: null }
    const message = await receiveMessage(tx, scope.actor, { channel, threadId: thread.id }, plan, received)
    if (!message) throw conflict('thread is closed')
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'message.posted', message.id, {
      thread_id: thread.id,
      task_id: message.task_id,
    })
    return message
  })
}

/** Counts Unicode characters, not UTF-16 units. */
function checkMessageLength(body: string): void {
  if (body.trim() === '') throw badRequest("field 'body' must not be empty")
  if (body.length > MAX_MESSAGE_CHARACTERS && Array.from(body).length > MAX_MESSAGE_CHARACTERS) {
    throw tooLarge('message is longer than 10,000 characters')
  }
}

/** The client is not told why the channel accepts no messages: the reason concerns the founder only. */
async function planMessageTask(ctx: Ctx, thread: ThreadRow): Promise<{ channel: ChannelRow; plan: QueuedTask }> {
  const channel = await findChannel(ctx.db, [thread.project_id], thread.channel_id)
  if (!channel) throw threadClosedToMessages()
  const plan = await planInboundTask(ctx, channel).catch((error: unknown) => {
    throw error instanceof Problem ? threadClosedToMessages() : error
  })
  return { channel, plan }
}

const threadClosedToMessages = () => conflict('thread does not accept messages')
