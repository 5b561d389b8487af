import { mailReply } from '../mail/mail-reply.ts'
import { MailboxConfig, pollMailbox } from '../mail/poll-mailbox.ts'
import type { ChannelAdapter } from './adapter.ts'

/** A mailbox that is read by IMAP. Answers go through the channel's connection, which may use SMTP or a mail API. */
export const mailAdapter: ChannelAdapter = {
  config: MailboxConfig,
  secret: 'the password of the mailbox',
  poll: pollMailbox,
  reply: mailReply,
}
