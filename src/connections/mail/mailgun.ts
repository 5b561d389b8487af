import { badRequest } from '../../platform/base/problem.ts'
import type { JsonObject } from '../../platform/base/json.ts'
import { encodeMultipart } from '../operations/multipart.ts'
import { formatMailAddress } from './mail-address.ts'
import type { Mail } from './mail-payload.ts'
import { createApiProvider, type MailApiRequest } from './mail-provider.ts'

/** Mailgun has no idempotency key. For its European region, set `config.base_url` to https://api.eu.mailgun.net. */
export const mailgunProvider = createApiProvider({
  baseUrl: 'https://api.mailgun.net',
  requiredConfig: ['domain'],
  auth: { type: 'basic', username: 'api' },
  buildRequest(mail, config) {
    return { path: `/v3/${requireDomain(config)}/messages`, ...formBody(mail) }
  },
  testPath: (config) => `/v4/domains/${requireDomain(config)}`,
  messageIdHeaders: (messageId) => ({ 'Message-Id': messageId }),
})

/** Only a multipart body can have attachments. */
function formBody(mail: Mail): Pick<MailApiRequest, 'headers' | 'body'> {
  const fields = formFields(mail)
  if (mail.attachments.length === 0) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return { headers, body: new URLSearchParams(fields).toString() }
  }
  const { body, contentType } = encodeMultipart([
    ...fields.map(([name, content]) => ({ name, content })),
    ...mail.attachments.map((file) => ({ ...file, name: 'attachment', filename: file.name })),
  ])
  return { headers: { 'content-type': contentType }, body }
}

/** A field is repeated for each of several addresses. */
function formFields(mail: Mail): [string, string][] {
  return [
    ['from', formatMailAddress(mail.from)],
    ...(['to', 'cc', 'bcc'] as const).flatMap((field) =>
      mail[field].map((one): [string, string] => [field, formatMailAddress(one)]),
    ),
    ['subject', mail.subject],
    ...(mail.text === null ? [] : [['text', mail.text] satisfies [string, string]]),
    ...(mail.html === null ? [] : [['html', mail.html] satisfies [string, string]]),
    ...(mail.replyTo ? [['h:Reply-To', formatMailAddress(mail.replyTo)] satisfies [string, string]] : []),
    ...Object.entries(mail.headers).map(([name, value]): [string, string] => [`h:${name}`, value]),
  ]
}

function requireDomain({ domain }: JsonObject): string {
  if (typeof domain === 'string' && /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(domain)) return domain
  throw badRequest('config.domain must be the domain that Mailgun sends from')
}
