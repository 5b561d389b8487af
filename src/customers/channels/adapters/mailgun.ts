import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { toHookContent } from '../mail/received-mail.ts'
import { parseUntrusted } from '../parsers/parse-untrusted.ts'
import { bindSignedToken } from '../signed-tokens.ts'
import type { ChannelAdapter, HookCall, HookContent } from './adapter.ts'
import { hookHeader, requireHookSecret, requireRecentCall, requireSignature } from './check-call.ts'

/** A route of Mailgun with the action `forward("<hook_url>")`. */
export const mailgunAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'the HTTP webhook signing key of the Mailgun account',
  connection: { kind: 'email' },
  hook: {
    maxBytes: 40 * 1024 * 1024,
    // The signature is in the body; without a secret no call can be valid.
    verifyHead: (_ctx, head) => void requireHookSecret(head),
    verifyBody: verifyMailgunCall,
    parse: parseMailgunCall,
  },
  reply: mailReply,
}

async function verifyMailgunCall(ctx: Ctx, call: HookCall): Promise<void> {
  const { timestamp, token, signature, bodyHash } = await readSignature(call)
  const expected = createHmac('sha256', requireHookSecret(call)).update(`${timestamp}${token}`).digest('hex')
  requireSignature(signature, expected)
  requireRecentCall(ctx, timestamp)
  await bindSignedToken(ctx, { channel_id: call.channel.id, signature: expected, body_hash: bodyHash })
}

const readSignature = (call: HookCall) =>
  call.read('mailgunSignature', { contentType: hookHeader(call, 'content-type') })

async function parseMailgunCall(ctx: Ctx, call: HookCall): Promise<HookContent> {
  const { body } = await readSignature(call)
  const options = { contentType: hookHeader(call, 'content-type'), address: call.channel.address }
  return toHookContent(await parseUntrusted(ctx, 'mailgunMail', Buffer.from(body.buffer), options))
}
