import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { type FileReference, isFileReference } from '../../platform/contract/file-reference.ts'
import { NO_FILES, type PayloadFile, type PayloadFiles } from '../../work/files/payload-files.ts'
import { validateFields } from '../../platform/http/validate.ts'
import type { Connection } from '../connection/rows.ts'
import type { ConnectionTool } from '../connection/tool.ts'
import { formatMailAddress, type MailAddress, parseMailAddress } from './mail-address.ts'

/** A mail that is ready to be sent, the same for every provider. */
export interface Mail {
  from: MailAddress
  to: MailAddress[]
  cc: MailAddress[]
  bcc: MailAddress[]
  replyTo: MailAddress | null
  subject: string
  text: string | null
  html: string | null
  headers: Record<string, string>
  attachments: PayloadFile[]
}

const MAX_RECIPIENTS = 50
const MAX_BODY_CHARACTERS = 1_000_000
const MAX_HEADERS = 30
/** RFC 5322 limits a line to 998 characters. */
const MAX_HEADER_CHARACTERS = 900

/** The service and the mail server write these headers; most of them have a field of their own in the payload. */
const RESERVED_HEADER =
  /^(?:from|sender|to|cc|bcc|subject|reply-to|date|message-id|mime-version|content-.*|return-path|received|dkim-signature|resent-.*|arc-.*|authentication-results)$/i

const NOT_A_FILE = 'must be a file, such as {"$file": "file_…"}'
const NOT_A_MAILBOX = 'must be one mail address, such as Kim <kim@example.com>'

const mailbox = z.string().transform((text, issues) => {
  const parsed = parseMailAddress(text)
  if (parsed) return parsed
  issues.addIssue({ code: 'custom', message: NOT_A_MAILBOX })
  return z.NEVER
})

const isTextOrTexts = (value: unknown) => [value].flat().every((one) => typeof one === 'string')

const mailboxes = z
  .custom<string | string[]>(isTextOrTexts, 'must be a mail address or a list of them')
  .transform((given, issues) =>
    [given].flat().flatMap((text, n) => {
      const parsed = parseMailAddress(text)
      if (parsed) return [parsed]
      issues.addIssue({ code: 'custom', message: NOT_A_MAILBOX, path: Array.isArray(given) ? [n] : [] })
      return []
    }),
  )

const headerText = z
  .string()
  .max(MAX_HEADER_CHARACTERS)
  .regex(/^\P{Cc}*$/u, 'must not contain line breaks or control characters')

const headerName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,75}$/, 'must be a header name of letters, digits and hyphens')
  .refine((name) => !RESERVED_HEADER.test(name), 'must not be a header that the service writes')

const bodyText = z.string().min(1).max(MAX_BODY_CHARACTERS)

const MailPayload = z.strictObject({
  from: mailbox,
  to: mailboxes.refine((list) => list.length > 0, 'must not be empty'),
  cc: mailboxes.optional(),
  bcc: mailboxes.optional(),
  reply_to: mailbox.optional(),
  subject: headerText.min(1),
  text: bodyText.optional(),
  html: bodyText.optional(),
  headers: z
    .record(headerName, headerText)
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `must have at most ${MAX_HEADERS} headers`)
    .optional(),
  attachments: z.array(z.custom<FileReference>(isFileReference, NOT_A_FILE)).optional(),
})

/**
 * The mail of a payload that `completeMailPayload` made; a 400 names the first invalid field. `files` has the content of
 * the attachments; a mail that is only checked needs none.
 */
export function parseMail(payload: Json, files: PayloadFiles = NO_FILES): Mail {
  if (!isJsonObject(payload)) throw badRequest('the payload of a mail must be an object')
  const { reply_to, ...given } = validateFields(MailPayload, payload, 'field')
  const {
    from,
    to,
    cc = [],
    bcc = [],
    subject,
    text = null,
    html = null,
    headers = {},
    attachments: references = [],
  } = given
  if (text === null && html === null) throw badRequest("field 'text' or 'html' is required")
  if (to.length + cc.length + bcc.length > MAX_RECIPIENTS)
    throw badRequest(`fields 'to', 'cc' and 'bcc' together must have at most ${MAX_RECIPIENTS} addresses`)
  const attachments = references.flatMap(({ $file }) => files.get($file) ?? [])
  return { from, to, cc, bcc, replyTo: reply_to ?? null, subject, text, html, headers, attachments }
}

/** Sets the sender from the connection's config, so that an agent cannot choose it. */
export function completeMailPayload({ name, config }: Connection, payload: Json): JsonObject {
  const from = typeof config.from === 'string' ? parseMailAddress(config.from) : null
  if (!from) throw badRequest(`connection '${name}': config.from must be one mail address`)
  if (!isJsonObject(payload)) throw badRequest('the payload of a mail must be an object')
  return { ...payload, from: formatMailAddress(from) }
}

const addressSchema = (description: string): JsonObject => ({
  description,
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
})

/** The one tool of a mail connection. */
export const SEND_MAIL_TOOL: ConnectionTool = {
  name: 'send',
  description: 'Send a mail. The sender is set by the connection.',
  inputSchema: {
    type: 'object',
    properties: {
      to: addressSchema('The recipient or recipients, such as "Kim <kim@example.com>".'),
      cc: addressSchema('Recipients of a copy, shown to everybody.'),
      bcc: addressSchema('Recipients of a copy, shown to nobody.'),
      subject: { type: 'string', minLength: 1, maxLength: MAX_HEADER_CHARACTERS },
      text: { type: 'string', description: 'The mail as plain text. Required unless html is set.' },
      html: { type: 'string', description: 'The mail as HTML.' },
      reply_to: { type: 'string', description: 'The address for replies, if it is not the sender.' },
      headers: {
        type: 'object',
        description: 'More headers, such as In-Reply-To and References.',
        additionalProperties: { type: 'string' },
      },
      attachments: {
        type: 'array',
        description: 'Files to attach, each as {"$file": id}.',
        items: { type: 'object', properties: { $file: { type: 'string' } }, required: ['$file'] },
      },
    },
    required: ['to', 'subject'],
  },
  class: 'ask',
  amount: null,
}
