import { z } from 'zod'
import { validateFields } from '../../../platform/http/validate.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { pollMailbox } from '../mail/poll-mailbox.ts'
import type { ChannelAdapter } from './adapter.ts'

const MailboxFields = z.strictObject({
  host: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be the name of the mail server')
    .meta({ title: 'IMAP server', description: 'Such as imap.example.com.' }),
  username: z.string().min(1).max(320).meta({ title: 'User name', description: 'Often the address of the mailbox.' }),
  secure: z
    .boolean()
    .exactOptional()
    .meta({
      title: 'Encryption',
      description: 'A server without encryption gets no password.',
      default: true,
      oneOf: [
        { const: true, title: 'TLS' },
        { const: false, title: 'STARTTLS' },
      ],
    }),
  port: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .exactOptional()
    .meta({ title: 'Port', description: '993 unless set, or 143 with STARTTLS.', default: 993 }),
  mailbox: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .meta({ title: 'Folder', description: 'INBOX unless set.', default: 'INBOX', 'x-advanced': true }),
  ca: z.string().max(100_000).exactOptional().meta({
    title: 'Certificate authority',
    description: 'Only for your own server: the certificate authority to trust, in PEM.',
    'x-advanced': true,
    'x-multiline': true,
  }),
  trusted_server: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'must be the name of the mail server')
    .exactOptional()
    .meta({
      title: 'Trusted server',
      description:
        'The name of your mail server in Authentication-Results. Its results are shown as the check of the sender.',
      'x-advanced': true,
    }),
})

/** A mailbox that is read by IMAP. Answers go through the channel's connection, which may use SMTP or a mail API. */
export const mailAdapter: ChannelAdapter = {
  config: MailboxFields,
  secret: 'the password of the mailbox',
  connection: { kind: 'email' },
  poll: (ctx, call, signal) =>
    pollMailbox(ctx, { ...call, config: validateFields(MailboxFields, call.channel.config, 'config') }, signal),
  reply: mailReply,
}
