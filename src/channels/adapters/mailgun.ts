import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { Ctx } from '../../ctx/ctx.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { toHookContent } from '../mail/received-mail.ts'
import type { ChannelAdapter, HookCall, HookContent } from './adapter.ts'
import { hookHeader, requireHookSecret, requireRecentCall, requireSignature } from './check-call.ts'

/** A route of Mailgun with the action `forward("<hook_url>")`. */
export const mailgunAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'the HTTP webhook signing key of the Mailgun account',
  connection: { kind: 'email' },
  hook: { maxBytes: 40 * 1024 * 1024, verify: verifyMailgunCall, parse: parseMailgunCall },
  reply: mailReply,
}

async function verifyMailgunCall(ctx: Ctx, call: HookCall): Promise<void> {
  const { timestamp, token, signature } = await readForm(call)
  const expected = createHmac('sha256', requireHookSecret(call)).update(`${timestamp}${token}`).digest('hex')
  requireSignature(signature, expected)
  requireRecentCall(ctx, timestamp)
}

/** The signature is a part of the form, so all of it is read before the signature is checked. */
const readForm = (call: HookCall) =>
  call.read('mailgunForm', { contentType: hookHeader(call, 'content-type'), address: call.channel.address })

async function parseMailgunCall(_ctx: Ctx, call: HookCall): Promise<HookContent> {
  return toHookContent((await readForm(call)).content)
}
