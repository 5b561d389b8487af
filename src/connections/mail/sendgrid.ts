import type { MailAddress } from './mail-address.ts'
import { createApiProvider, jsonBody } from './mail-provider.ts'

/** SendGrid has no idempotency key. */
export const sendgridProvider = createApiProvider({
  baseUrl: 'https://api.sendgrid.com',
  auth: { type: 'bearer' },
  buildRequest(mail) {
    const recipients = {
      to: mail.to.map(toRecipient),
      ...(mail.cc.length > 0 && { cc: mail.cc.map(toRecipient) }),
      ...(mail.bcc.length > 0 && { bcc: mail.bcc.map(toRecipient) }),
    }
    const body = {
      personalizations: [recipients],
      from: toRecipient(mail.from),
      ...(mail.replyTo && { reply_to: toRecipient(mail.replyTo) }),
      subject: mail.subject,
      // The API wants the plain text first.
      content: [
        ...(mail.text === null ? [] : [{ type: 'text/plain', value: mail.text }]),
        ...(mail.html === null ? [] : [{ type: 'text/html', value: mail.html }]),
      ],
      ...(Object.keys(mail.headers).length > 0 && { headers: mail.headers }),
      ...(mail.attachments.length > 0 && {
        attachments: mail.attachments.map(({ name, contentType, content }) => ({
          filename: name,
          type: contentType,
          content: content.toString('base64'),
          disposition: 'attachment',
        })),
      }),
    }
    return { path: '/v3/mail/send', ...jsonBody(body) }
  },
  testPath: () => '/v3/scopes',
})

const toRecipient = ({ name, address }: MailAddress) => ({ email: address, ...(name !== '' && { name }) })
