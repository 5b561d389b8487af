import { hash } from 'node:crypto'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { MessageRow } from '../../platform/store/tables.ts'
import { keyUsedWithOtherBody } from '../../work/tasks/idempotency.ts'
import { findMessageByExternalId } from './rows.ts'

export interface PostedMessage {
  message: MessageRow
  /** An earlier request with the same idempotency key sent the message; this one changed nothing. */
  replayed: boolean
}

/**
 * The id with which a channel stores a message that a client sends with an idempotency key: different for each client and
 * conversation. `target` is the thread, or `new` for another conversation.
 */
export const portalExternalId = (clientId: string, target: string, key: string | null): string | null =>
  key === null ? null : `portal:${hash('sha256', JSON.stringify([clientId, target, key]))}`

/** The message that an earlier request with the same idempotency key has sent. */
export async function findEarlierMessage(
  { db }: Pick<Ctx, 'db'>,
  channelId: string,
  { externalId, body }: { externalId: string | null; body: string },
): Promise<PostedMessage | undefined> {
  if (externalId === null) return undefined
  const [message] = await findMessageByExternalId(db, { channel_id: channelId, external_id: externalId })
  if (message && message.body !== body) throw keyUsedWithOtherBody()
  return message && { message, replayed: true }
}
