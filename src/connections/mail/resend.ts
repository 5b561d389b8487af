import { formatMailAddress } from './mail-address.ts'
import { createApiProvider, jsonBody } from './mail-provider.ts'

/** Resend recognises a repeated mail by its idempotency key for 24 hours. */
export const resendProvider = createApiProvider({
  baseUrl: 'https://api.resend.com',
  auth: { type: 'bearer' },
  buildRequest(mail, _config, idempotencyKey) {
    const body = {
      from: formatMailAddress(mail.from),
      to: mail.to.map(formatMailAddress),
      ...(mail.cc.length > 0 && { cc: mail.cc.map(formatMailAddress) }),
      ...(mail.bcc.length > 0 && { bcc: mail.bcc.map(formatMailAddress) }),
      subject: mail.subject,
      ...(mail.text !== null && { text: mail.text }),
      ...(mail.html !== null && { html: mail.html }),
      ...(mail.replyTo && { reply_to: formatMailAddress(mail.replyTo) }),
      ...(Object.keys(mail.headers).length > 0 && { headers: mail.headers }),
      ...(mail.attachments.length > 0 && {
        attachments: mail.attachments.map(({ name, contentType, content }) => ({
          filename: name,
          content_type: contentType,
          content: content.toString('base64'),
        })),
      }),
    }
    return { path: '/emails', ...jsonBody(body, { 'idempotency-key': idempotencyKey }) }
  },
  testPath: () => '/domains',
})
