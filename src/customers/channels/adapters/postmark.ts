import { z } from 'zod'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { toHookContent } from '../mail/received-mail.ts'
import type { ChannelAdapter, HookCall, HookContent, HookHead } from './adapter.ts'
import { hookHeader, requireHookSecret, requireSignature } from './check-call.ts'

/** The inbound webhook of Postmark. Its address is registered as `https://any:<secret>@<host>/v1/hooks/…`. */
export const postmarkAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'a password of your choice, which is part of the webhook address at Postmark',
  connection: { kind: 'email' },
  hook: { maxBytes: 50 * 1024 * 1024, verifyHead: verifyPassword, parse: parsePostmarkCall },
  reply: mailReply,
}

/** Postmark signs nothing: it sends the password by HTTP Basic. */
function verifyPassword(_ctx: Ctx, head: HookHead): void {
  const [, encoded = ''] = /^basic\s+(\S+)$/i.exec(hookHeader(head, 'authorization')) ?? []
  const credentials = Buffer.from(encoded, 'base64').toString('utf8')
  requireSignature(credentials.slice(credentials.indexOf(':') + 1), requireHookSecret(head))
}

async function parsePostmarkCall(_ctx: Ctx, { channel, read }: HookCall): Promise<HookContent> {
  return toHookContent(await read('postmarkMail', { address: channel.address }))
}
