import { formatMailAddress, type MailAddress } from './mail-address.ts'
import { createApiProvider, jsonBody } from './mail-provider.ts'

/** Postmark has no idempotency key. `config.message_stream` chooses another stream than `outbound`. */
export const postmarkProvider = createApiProvider({
  baseUrl: 'https://api.postmarkapp.com',
  auth: { type: 'header', name: 'X-Postmark-Server-Token' },
  buildRequest(mail, config) {
    const { message_stream } = config
    const body = {
      From: formatMailAddress(mail.from),
      To: joinAddresses(mail.to),
      ...(mail.cc.length > 0 && { Cc: joinAddresses(mail.cc) }),
      ...(mail.bcc.length > 0 && { Bcc: joinAddresses(mail.bcc) }),
      Subject: mail.subject,
      ...(mail.text !== null && { TextBody: mail.text }),
      ...(mail.html !== null && { HtmlBody: mail.html }),
      ...(mail.replyTo && { ReplyTo: formatMailAddress(mail.replyTo) }),
      ...(Object.keys(mail.headers).length > 0 && {
        Headers: Object.entries(mail.headers).map(([Name, Value]) => ({ Name, Value })),
      }),
      ...(mail.attachments.length > 0 && {
        Attachments: mail.attachments.map(({ name, contentType, content }) => ({
          Name: name,
          ContentType: contentType,
          Content: content.toString('base64'),
        })),
      }),
      ...(typeof message_stream === 'string' && { MessageStream: message_stream }),
    }
    return { path: '/email', ...jsonBody(body) }
  },
  testPath: () => '/server',
  messageIdHeaders: (messageId) => ({ 'Message-ID': messageId, 'X-PM-KeepID': 'true' }),
})

const joinAddresses = (list: readonly MailAddress[]): string => list.map(formatMailAddress).join(', ')
