import type { Tx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ChannelRow } from '../../platform/store/tables.ts'
import type { IncomingMessage } from './adapters/adapter.ts'
import { findSentMessage } from '../threads/message-rows.ts'
import {
  findOpenThreadId,
  findThreadByExternalId,
  findThreadByReplyToken,
  insertOpenThread,
  type NamedMessage,
  type NewThread,
} from '../threads/thread-rows.ts'

/** What says to which conversation of a client a message belongs. */
export type ConversationHints = Pick<
  IncomingMessage,
  'conversationKey' | 'continues' | 'subject' | 'senderProof' | 'verdict'
>

interface FoundThread {
  threadId: string
  /** Nothing proves that the client of the thread wrote the message. */
  isUnverified: boolean
  /** Anybody can have written this sender into the message. It may still open a thread, or name a mail that others have read. */
  mayBeForged: boolean
}

/**
 * The open thread that a message belongs to: the one that its reply address or an earlier message names, else the open
 * conversation with the same key; opened if there is none. A closed thread that it names still proves its sender. Only
 * threads of the sender count, so a forwarded reply address does not give access to the thread of another client. Call it
 * after the channel is locked.
 */
export async function findOrOpenThread(
  tx: Tx,
  channel: ChannelRow,
  clientId: string,
  hints: ConversationHints,
): Promise<FoundThread> {
  const { senderProof, verdict } = hints
  const hasFailed = senderProof === 'failed'
  const named = await findNamedThread(tx, channel, clientId, hints)
  // A verdict is about the sender, unless the proof has failed.
  const isClient = !senderProof || (senderProof === 'required' && (verdict?.dmarc === 'pass' || named?.isOnlyForClient))
  const mayBeForged = !isClient
  const isUnverified = hasFailed || (senderProof === 'required' && !named?.isProof)
  if (named?.openId) return { threadId: named.openId, isUnverified, mayBeForged }
  const conversation = { channel_id: channel.id, client_id: clientId, conversation_key: hints.conversationKey }
  const [open] = await findOpenThreadId(tx.db, conversation)
  if (open) return { threadId: open.id, isUnverified, mayBeForged }
  return { threadId: await openThread(tx, channel, conversation, hints.subject), isUnverified: hasFailed, mayBeForged }
}

async function openThread(
  tx: Tx,
  channel: ChannelRow,
  conversation: Pick<NewThread, 'channel_id' | 'client_id' | 'conversation_key'>,
  subject: string | null,
): Promise<string> {
  const now = isoNow(tx)
  const id = tx.world.newId('thr')
  await insertOpenThread(tx.db, {
    ...conversation,
    id,
    project_id: channel.project_id,
    subject,
    reply_token: channel.adapter === null ? null : newReplyToken(tx),
    created_at: now,
    updated_at: now,
  })
  return id
}

interface NamedThread {
  /** Null: only closed threads are named. */
  openId: string | null
  isProof: boolean
  /** Only the client knows what the message names. A stranger can name the mail with which they opened the thread. */
  isOnlyForClient: boolean
}

/** The id of a message that may itself be a stranger's proves nothing, so a proved one is preferred. */
async function findNamedThread(
  tx: Tx,
  channel: ChannelRow,
  client_id: string,
  { continues }: ConversationHints,
): Promise<NamedThread | null> {
  if (!continues) return null
  const owner = { channel_id: channel.id, client_id }
  const { replyToken, externalIds } = continues
  const [named] = replyToken ? await findThreadByReplyToken(tx.db, { ...owner, reply_token: replyToken }) : []
  if (named) return { openId: named.status === 'open' ? named.id : null, isProof: true, isOnlyForClient: true }
  const found: NamedMessage[] = []
  for (const external_id of newestIds(externalIds)) {
    found.push(...(await findThreadByExternalId(tx.db, { ...owner, external_id })))
    if (found.some((one) => isOpen(one) && isProved(one))) break
  }
  if (found.length === 0) return null
  const open = found.filter(isOpen)
  const proved = found.filter(isProved)
  return {
    openId: (open.find(isProved) ?? open[0])?.id ?? null,
    isProof: proved.length > 0,
    isOnlyForClient: proved.some(({ direction }) => direction === 'outbound'),
  }
}

const isOpen = ({ status }: NamedMessage) => status === 'open'
const isProved = ({ is_unverified }: NamedMessage) => is_unverified === 0

/**
 * The thread in which the service sent one of the messages that a message names. Only who got that message knows its id; the
 * id of a client's own message is known to everybody to whom it was copied.
 */
export async function findThreadOfSentMessage(
  db: Db,
  channel_id: string,
  externalIds: readonly string[],
): Promise<string | null> {
  for (const external_id of newestIds(externalIds)) {
    const [sent] = await findSentMessage(db, { channel_id, external_id })
    if (sent) return sent.thread_id
  }
  return null
}

/** A mail may name hundreds of earlier mails, and each costs a query. The newest id is the last one. */
const newestIds = (externalIds: readonly string[]) => externalIds.slice(-MAX_EARLIER_IDS).toReversed()

const MAX_EARLIER_IDS = 20

/** Hexadecimal, because mail servers may change the case of an address. */
const newReplyToken = (tx: Tx): string => Buffer.from(tx.world.random(16)).toString('hex')
