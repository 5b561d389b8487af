import type { Ctx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import type { ChannelRow } from '../store/tables.ts'
import type { IncomingMessage } from './adapters/adapter.ts'
import { type Receipt, receiveFromChannel } from './inbound.ts'

/** Receives a message that an adapter has parsed, from a hook or from a mailbox. */
export async function receiveIncoming(ctx: Ctx, channel: ChannelRow, message: IncomingMessage): Promise<Receipt> {
  return receiveFromChannel(ctx, SYSTEM_ACTOR, channel, message)
}
