import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest, conflict, Problem, tooLarge } from '../../platform/base/problem.ts'
import { type Brand, findBrand } from '../../customers/brand/rows.ts'
import { findOrOpenThread } from '../../customers/channels/find-thread.ts'
import { planInboundTask } from '../../customers/channels/receive-message.ts'
import { appendInboundMessage } from '../../customers/threads/append-message.ts'
import { findChannel, lockReceivingChannel } from '../../customers/channels/rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { requireUsableFiles } from '../../work/files/usable-files.ts'
import type { ChannelRow, MessageRow, QueuedTask, ThreadRow } from '../../platform/store/tables.ts'
import { enforceRateLimit } from '../../identity/limits/minute-limit.ts'
import { findEarlierMessage, type PostedMessage, portalExternalId } from './repeated-message.ts'
import { requireOwnClient } from './session.ts'

const MAX_MESSAGE_CHARACTERS = 10_000
const MAX_MESSAGES_PER_MINUTE = 30

export interface PortalMessageInput {
  body: string
  files?: readonly string[] | undefined
  /** A repeated request with the same key gets the message of the first one. */
  idempotencyKey: string | null
}

/** Posts a client's message to one of its threads and creates the task that the message starts. */
export async function postPortalMessage(
  ctx: Ctx,
  scope: ClientScope,
  thread: ThreadRow,
  { idempotencyKey, ...input }: PortalMessageInput,
): Promise<PostedMessage> {
  checkMessage(input)
  const sent = { ...input, subject: null, externalId: portalExternalId(scope.clientId, thread.id, idempotencyKey) }
  // Checked before the channel, so that a repeated request gets its message even if the channel was removed since.
  const earlier = await findEarlierMessage(ctx, thread.channel_id, sent)
  if (earlier) return earlier
  const channel = await findChannel(ctx.db, [thread.project_id], thread.channel_id)
  if (!channel) throw threadClosedToMessages()
  const plan = await planMessageTask(ctx, channel)
  return postOnce(ctx, scope, channel, sent, (tx) =>
    appendMessage(tx, scope, { channel, threadId: thread.id, plan }, sent),
  )
}

/** Begins another conversation on the channel that the brand names. */
export async function startConversation(
  ctx: Ctx,
  scope: ClientScope,
  { subject, idempotencyKey, ...input }: PortalMessageInput & { subject?: string | null | undefined },
): Promise<PostedMessage> {
  checkMessage(input)
  const channel = await findPortalChannel(ctx, await findBrand(ctx.db, scope.projectId))
  if (!channel) throw conflict('new conversations are not possible here')
  const title = subject || titleOf(input.body)
  const sent = { ...input, subject: title, externalId: portalExternalId(scope.clientId, 'new', idempotencyKey) }
  const earlier = await findEarlierMessage(ctx, channel.id, sent)
  if (earlier) return earlier
  const plan = await planMessageTask(ctx, channel)
  return postOnce(ctx, scope, channel, sent, async (tx) => {
    // A key that no other conversation has, so that the client may have several open ones.
    const hints = { conversationKey: `portal-${plan.id}`, subject: title }
    const { threadId } = await findOrOpenThread(tx, channel, scope.clientId, hints)
    return appendMessage(tx, scope, { channel, threadId, plan }, sent)
  })
}

type SentMessage = Omit<PortalMessageInput, 'idempotencyKey'> & { subject: string | null; externalId: string | null }

/** Locks the channel, so that of concurrent requests with one idempotency key the first one posts the message. */
function postOnce(
  ctx: Ctx,
  scope: ClientScope,
  channel: ChannelRow,
  sent: SentMessage,
  post: (tx: Tx) => Promise<MessageRow>,
): Promise<PostedMessage> {
  return inTx(ctx, async (tx) => {
    await lockForMessage(tx, scope, channel)
    const concurrent = await findEarlierMessage(tx, channel.id, sent)
    return concurrent ?? { message: await post(tx), replayed: false }
  })
}

/** The channel of new conversations; undefined if none is chosen, or if it was deleted since. */
export async function findPortalChannel({ db }: Pick<Ctx, 'db'>, brand: Brand): Promise<ChannelRow | undefined> {
  const { project_id, portal_channel_id } = brand
  return portal_channel_id === null ? undefined : findChannel(db, [project_id], portal_channel_id)
}

async function lockForMessage(tx: Tx, scope: ClientScope, channel: ChannelRow): Promise<void> {
  // The rate limit counts by client id here, and by project id for tasks.
  await enforceRateLimit(tx, scope.clientId, MAX_MESSAGES_PER_MINUTE, 'messages')
  if (!(await lockReceivingChannel(tx.db, channel.id, isoNow(tx)))) throw threadClosedToMessages()
}

async function appendMessage(
  tx: Tx,
  scope: ClientScope,
  { channel, threadId, plan }: { channel: ChannelRow; threadId: string; plan: QueuedTask },
  { body, files = [], subject, externalId: external_id }: SentMessage,
): Promise<MessageRow> {
  const client = await requireOwnClient(tx, scope)
  await requireOwnFiles(tx, scope, files)
  const from = { handle: client.handles[0] ?? null, name: client.display_name }
  const received = { from, body, subject, external_id, fileIds: files }
  const message = await appendInboundMessage(tx, scope.actor, { channel, threadId }, plan, received)
  if (!message) throw conflict('thread is closed')
  const { id, task_id } = message
  await appendAuditEntry(tx, scope.projectId, scope.actor, 'message.posted', id, { thread_id: threadId, task_id })
  return message
}

/** A file of the team is not the client's to send, even if the client knows its id. */
async function requireOwnFiles(tx: Tx, scope: ClientScope, ids: readonly string[]): Promise<void> {
  const files = await requireUsableFiles(tx.db, scope, ids)
  const foreign = files.find(({ client_id }) => client_id !== scope.clientId)
  if (foreign) throw badRequest(`no such file: ${foreign.id}`)
}

/** Counts Unicode characters, not UTF-16 units. */
function checkMessage({ body, files = [] }: Pick<PortalMessageInput, 'body' | 'files'>): void {
  if (body.trim() === '' && files.length === 0) throw badRequest("field 'body' must not be empty")
  if (body.length > MAX_MESSAGE_CHARACTERS && Array.from(body).length > MAX_MESSAGE_CHARACTERS) {
    throw tooLarge('message is longer than 10,000 characters')
  }
}

const MAX_TITLE_CHARACTERS = 80

/** The first line of the message, for a conversation without a subject. */
function titleOf(body: string): string | null {
  const line = body.trim().split('\n', 1)[0] ?? ''
  const characters = Array.from(line)
  const title =
    characters.length <= MAX_TITLE_CHARACTERS ? line : `${characters.slice(0, MAX_TITLE_CHARACTERS - 1).join('')}…`
  return title || null
}

/** The client does not see why the channel accepts no messages: the reason concerns the founder only. */
function planMessageTask(ctx: Ctx, channel: ChannelRow): Promise<QueuedTask> {
  return planInboundTask(ctx, channel).catch((error: unknown) => {
    throw error instanceof Problem ? threadClosedToMessages() : error
  })
}

const threadClosedToMessages = () => conflict('thread does not accept messages')
