import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { notFound } from '../../platform/base/problem.ts'
import { addClaimedContact, clientDisplayName, clientHandle, findOrCreateClient } from '../clients/clients.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor, ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { bindFilesToClient, fileIds } from '../../work/files/usable-files.ts'
import type { ChannelRow, MessageRow, QueuedTask } from '../../platform/store/tables.ts'
import { planTask } from '../../work/tasks/create-task.ts'
import { findAdapter } from './adapters/adapter-table.ts'
import type { IncomingMessage } from './adapters/adapter.ts'
import { findOrOpenThread } from './find-thread.ts'
import { appendInboundMessage } from '../threads/append-message.ts'
import { lockReceivingChannel } from './rows.ts'
import { findInboundByExternalId } from '../threads/thread-rows.ts'

export const InboundMessage = z.object({
  from: z.object({ handle: clientHandle, name: clientDisplayName.nullish() }),
  body: z.string(),
  subject: z.string().max(2000).nullish(),
  external_id: z.string().min(1).max(512).nullish(),
  files: fileIds.optional(),
})

export interface InboundResult {
  task_id: string | null
  thread_id: string
  client_id: string
}

export interface Receipt {
  delivered: InboundResult
  /** An earlier delivery of the same message was received; this one changed nothing. */
  replayed: boolean
}

/** A message for one channel, whichever way it came. */
export type ChannelMessage = Omit<IncomingMessage, 'externalId' | 'address' | 'files' | 'notes'> & {
  externalId: string | null
  /** What the client wrote, if the body has notes too. */
  writtenText?: string
  isFromOwnServer?: boolean
  address: IncomingMessage['address'] | null
  fileIds: readonly string[]
}

/** Receives a message that the founder's own server posts to `/inbound`. */
export function receivePostedMessage(
  ctx: Ctx,
  scope: ProjectScope,
  channel: ChannelRow,
  { from, body, subject = null, external_id = null, files = [] }: z.infer<typeof InboundMessage>,
): Promise<Receipt> {
  const sender = { handle: from.handle, name: from.name ?? null }
  const content = { from: sender, body, subject, externalId: external_id, fileIds: files, isFromOwnServer: true }
  const reply = findAdapter(channel.adapter)?.reply
  // What is only shown needs no address of the client, so the answer is that of a message of the adapter.
  const address = reply && !reply.send ? {} : null
  return receiveMessage(ctx, scope.actor, channel, { ...content, conversationKey: '', address })
}

/**
 * Receives a message: finds or creates the client, appends to the open thread and creates the task, in one transaction. The
 * service has not received anything before this transaction commits, and a second delivery changes nothing.
 */
export async function receiveMessage(
  ctx: Ctx,
  actor: Actor,
  channel: ChannelRow,
  message: ChannelMessage,
): Promise<Receipt> {
  // Checked before the wedge, so that a repeated delivery gets its result even if the wedge was removed since.
  const earlier = await findEarlierInbound(ctx, channel, message)
  if (earlier) return { delivered: earlier, replayed: true }
  const answered = await ctx.messageAnswers.tryAnswer(ctx, actor, channel, message)
  if (answered) return { delivered: answered, replayed: false }
  const plan = await planInboundTask(ctx, channel)
  return inTx(ctx, async (tx) => {
    if (!(await lockReceivingChannel(tx.db, channel.id, isoNow(tx)))) throw notFound('channel')
    const concurrent = await findEarlierInbound(tx, channel, message)
    if (concurrent) return { delivered: concurrent, replayed: true }
    return { delivered: await storeInbound(tx, actor, channel, plan, message), replayed: false }
  })
}

/** The task that a message of the channel starts. `appendInboundMessage` fills in the client and the input. */
export function planInboundTask(ctx: Ctx, channel: ChannelRow): Promise<QueuedTask> {
  const { wedge, task_type, project_id } = channel
  return planTask(ctx, { projectId: project_id }, { wedge, task_type }, { channel_id: channel.id })
}

export async function findEarlierInbound(
  { db }: Pick<Ctx, 'db'>,
  channel: ChannelRow,
  { externalId }: Pick<ChannelMessage, 'externalId'>,
): Promise<InboundResult | undefined> {
  if (!externalId) return undefined
  const [earlier] = await findInboundByExternalId(db, { channel_id: channel.id, external_id: externalId })
  return earlier
}

async function storeInbound(
  tx: Tx,
  actor: Actor,
  channel: ChannelRow,
  plan: QueuedTask,
  message: ChannelMessage,
): Promise<InboundResult> {
  const { project_id } = channel
  const client = await findOrCreateClient(tx, project_id, message)
  await bindFilesToClient(tx.db, { projectId: project_id, clientId: client.id }, message.fileIds)
  const { name, claimedAddress: address } = message.from
  if (address) await addClaimedContact(tx, { id: client.id, projectId: project_id }, { name, address })
  const stored = await appendToOpenThread(tx, actor, channel, client.id, plan, message)
  const delivered = { task_id: stored.task_id, thread_id: stored.thread_id, client_id: client.id }
  if (client.isNew) await appendAuditEntry(tx, project_id, actor, 'client.created', client.id, { by: 'inbound' })
  const data = { channel_id: channel.id, ...delivered }
  const mark = stored.is_unverified === 1 && { unverified: true }
  await appendAuditEntry(tx, project_id, actor, 'message.received', stored.id, { ...data, ...mark })
  return delivered
}

/** A member may close the thread between its lookup and its lock. The message then opens another thread. */
async function appendToOpenThread(
  tx: Tx,
  actor: Actor,
  channel: ChannelRow,
  clientId: string,
  plan: QueuedTask,
  message: ChannelMessage,
): Promise<MessageRow> {
  const { externalId: external_id, ...content } = message
  for (;;) {
    const { threadId, ...proof } = await findOrOpenThread(tx, channel, clientId, message)
    const received = { ...content, external_id, ...proof }
    const stored = await appendInboundMessage(tx, actor, { channel, threadId }, plan, received)
    if (stored) return stored
  }
}
