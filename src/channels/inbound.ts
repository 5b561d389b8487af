import { z } from 'zod'
import { appendAuditEntry } from '../audit/append.ts'
import { notFound } from '../base/problem.ts'
import { clientDisplayName, findOrCreateClient } from '../clients/clients.ts'
import { clientHandle } from '../clients/handles.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { ChannelRow, QueuedTask } from '../store/tables.ts'
import { planTask } from '../tasks/create-task.ts'
import { receiveMessage } from './messages.ts'
import { lockChannel } from './rows.ts'
import {
  findInboundByExternalId,
  insertOpenThread,
  type MessagePosition,
  updateOpenThreadPosition,
} from './thread-rows.ts'

export const InboundMessage = z.object({
  from: z.object({ handle: clientHandle, name: clientDisplayName.nullish() }),
  body: z.string(),
  subject: z.string().max(2000).nullish(),
  external_id: z.string().min(1).max(512).nullish(),
})

type InboundMessage = z.infer<typeof InboundMessage>

export interface InboundResult {
  task_id: string | null
  thread_id: string
  client_id: string
}

/** Receives a message: finds or creates the client, appends to the open thread and creates the task, in one transaction. */
export async function receiveInbound(
  ctx: Ctx,
  scope: ProjectScope,
  channel: ChannelRow,
  message: InboundMessage,
): Promise<{ delivered: InboundResult; replayed: boolean }> {
  // Checked before the wedge, so that a repeated delivery gets its result even if the wedge was removed since.
  const earlier = await findEarlierInbound(ctx, channel, message)
  if (earlier) return { delivered: earlier, replayed: true }
  const plan = await planInboundTask(ctx, channel)
  return inTx(ctx, async (tx) => {
    if (!(await lockChannel(tx.db, channel.id))) throw notFound('channel')
    const concurrent = await findEarlierInbound(tx, channel, message)
    if (concurrent) return { delivered: concurrent, replayed: true }
    return { delivered: await storeInbound(tx, scope, channel, plan, message), replayed: false }
  })
}

/** The task that a message of the channel starts. `receiveMessage` fills in the client and the input. */
export function planInboundTask(ctx: Ctx, channel: ChannelRow): Promise<QueuedTask> {
  const { wedge, task_type, project_id } = channel
  return planTask(ctx, { projectId: project_id }, { wedge, task_type }, { channel_id: channel.id })
}

async function findEarlierInbound({ db }: Pick<Ctx, 'db'>, channel: ChannelRow, { external_id }: InboundMessage) {
  if (!external_id) return undefined
  const [earlier] = await findInboundByExternalId(db, { channel_id: channel.id, external_id })
  return earlier
}

async function storeInbound(
  tx: Tx,
  scope: ProjectScope,
  channel: ChannelRow,
  plan: QueuedTask,
  { from, body, subject = null, external_id = null }: InboundMessage,
): Promise<InboundResult> {
  const client = await findOrCreateClient(tx, channel.project_id, from)
  const position = await nextPositionOfClient(tx, channel, client.id, subject)
  const sender = { handle: from.handle, name: from.name ?? null }
  const message = await receiveMessage(tx, scope.actor, position, plan, { from: sender, body, subject, external_id })
  const delivered = { task_id: plan.id, thread_id: position.id, client_id: client.id }
  if (client.isNew)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'client.created', client.id, { by: 'inbound' })
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'message.received', message.id, {
    channel_id: channel.id,
    ...delivered,
  })
  return delivered
}

/** The next position in the client's open thread. Opens a thread if there is none. */
async function nextPositionOfClient(
  tx: Tx,
  channel: ChannelRow,
  clientId: string,
  subject: string | null,
): Promise<MessagePosition> {
  const now = isoNow(tx)
  for (;;) {
    const [position] = await updateOpenThreadPosition(tx.db, { channel_id: channel.id, client_id: clientId, now })
    if (position) return position
    await insertOpenThread(tx.db, {
      id: tx.world.newId('thr'),
      project_id: channel.project_id,
      channel_id: channel.id,
      client_id: clientId,
      subject,
      conversation_key: '',
      reply_token: null,
      created_at: now,
      updated_at: now,
    })
  }
}
