import { z } from 'zod'
import { validateFields } from '../../http/validate.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { pollMailbox } from '../mail/poll-mailbox.ts'
import type { ChannelAdapter } from './adapter.ts'

const MailboxFields = z.strictObject({
  host: z.string().regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be the name of the mail server'),
  port: z.number().int().min(1).max(65_535).exactOptional(),
  secure: z.boolean().exactOptional().meta({ description: 'Encryption from the first byte; false: by STARTTLS.' }),
  username: z.string().min(1).max(320),
  mailbox: z.string().min(1).max(200).exactOptional(),
  ca: z.string().max(100_000).exactOptional().meta({ description: 'The only trusted certificate authority, in PEM.' }),
  trusted_server: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'must be the name of the mail server')
    .exactOptional()
    .meta({ description: 'The server whose Authentication-Results are the verdict about the sender.' }),
})

/** A mailbox that is read by IMAP. Answers go through the channel's connection, which may use SMTP or a mail API. */
export const mailAdapter: ChannelAdapter = {
  config: MailboxFields,
  secret: 'the password of the mailbox',
  poll: (ctx, call, signal) =>
    pollMailbox(ctx, { ...call, config: validateFields(MailboxFields, call.channel.config, 'config') }, signal),
  reply: mailReply,
}
