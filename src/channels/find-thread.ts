import type { Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { ChannelRow } from '../store/tables.ts'
import type { IncomingMessage } from './adapters/adapter.ts'
import {
  findOpenThreadId,
  findThreadIdByExternalId,
  findThreadIdByReplyToken,
  insertOpenThread,
} from './thread-rows.ts'

/** What says to which conversation of a client a message belongs. */
export type ConversationHints = Pick<IncomingMessage, 'conversationKey' | 'continues' | 'subject'>

/**
 * The open thread that a message belongs to: the one that its reply address or an earlier message names, else the open
 * conversation with the same key; opened if there is none. Only threads of the sender count, so a forwarded reply address
 * does not give access to the thread of another client. Call it after the channel is locked.
 */
export async function findOrOpenThread(
  tx: Tx,
  channel: ChannelRow,
  clientId: string,
  hints: ConversationHints,
): Promise<string> {
  const named = await findNamedThread(tx, channel, clientId, hints)
  if (named !== null) return named
  const conversation = { channel_id: channel.id, client_id: clientId, conversation_key: hints.conversationKey }
  const [open] = await findOpenThreadId(tx.db, conversation)
  if (open) return open.id
  const now = isoNow(tx)
  const id = tx.world.newId('thr')
  await insertOpenThread(tx.db, {
    ...conversation,
    id,
    project_id: channel.project_id,
    subject: hints.subject,
    reply_token: channel.adapter === null ? null : newReplyToken(tx),
    created_at: now,
    updated_at: now,
  })
  return id
}

/** The newest id is the last one, so the list is read from its end. */
async function findNamedThread(tx: Tx, channel: ChannelRow, client_id: string, { continues }: ConversationHints) {
  if (!continues) return null
  const owner = { channel_id: channel.id, client_id }
  const { replyToken, externalIds } = continues
  const [named] = replyToken ? await findThreadIdByReplyToken(tx.db, { ...owner, reply_token: replyToken }) : []
  if (named) return named.id
  for (const external_id of externalIds.slice(-MAX_EARLIER_IDS).toReversed()) {
    const [thread] = await findThreadIdByExternalId(tx.db, { ...owner, external_id })
    if (thread) return thread.id
  }
  return null
}

/** A mail may name hundreds of earlier mails, and each costs a query. */
const MAX_EARLIER_IDS = 20

/** Hexadecimal, because mail servers may change the case of an address. */
const newReplyToken = (tx: Tx): string => Buffer.from(tx.world.random(16)).toString('hex')
