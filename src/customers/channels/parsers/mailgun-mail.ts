import { hash } from 'node:crypto'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import { tryParseJson } from '../../../platform/base/json-fields.ts'
import { BoundaryCounter, requireFormBoundary } from '../../../platform/base/parse-form.ts'
import { badRequest, Problem } from '../../../platform/base/problem.ts'
import { requireBoundedJson } from '../../../platform/base/strict-json.ts'
import { parseMailAddress } from '../../../connections/mail/mail-address.ts'
import { isDeliveryReport } from '../mail/automatic-mail.ts'
import {
  copyBytes,
  type FileBytes,
  isInlineLogo,
  type MailContent,
  parseHeaderMailbox,
  type ReceivedMail,
  toMailContent,
} from '../mail/received-mail.ts'
import { findHeader, type MailHeaders } from '../mail/mail-headers.ts'
import { readMailgunVerdict } from '../mail/mail-verdict.ts'
import { MAX_FORM_FIELDS, tooManyFields } from './call-parsers.ts'

const MAX_PARTS = 1000
const MAIL_SIZES = { fieldSize: 10 * 1024 * 1024, fileSize: 40 * 1024 * 1024 }
const SIGNED_SIZES = { fieldSize: 200, fileSize: 0 }
const MAX_RECIPIENTS = 500

/** What Mailgun signs. The body is for the parser of the mail. */
export interface MailgunSignature {
  timestamp: string
  token: string
  signature: string
  /** Mailgun does not sign it. */
  bodyHash: string
  body: Uint8Array<ArrayBuffer>
}

/** Reads only what is signed, because anyone can send a form: to read a whole mail can take seconds. */
export async function parseMailgunSignature(
  body: Buffer,
  { contentType }: { contentType: string },
): Promise<MailgunSignature> {
  const { fields } = await readForm(body, contentType, SIGNED_SIZES)
  const [timestamp = '', token = '', signature = ''] = ['timestamp', 'token', 'signature'].map(
    (name) => fields.get(name) ?? '',
  )
  return { timestamp, token, signature, bodyHash: hash('sha256', body), body: copyBytes(body) }
}

/** The mail in the form of a route with the action `forward`. */
export async function parseMailgunMail(
  body: Buffer,
  { contentType, address }: { contentType: string; address: string },
): Promise<MailContent> {
  return toMailContent({ address }, readMail(await readForm(body, contentType, MAIL_SIZES)))
}

interface Form {
  /** The first value of each field. */
  fields: Map<string, string>
  files: { field: string; name: string; contentType: string; bytes: Buffer }[]
}

/** The fields of the files. */
const ATTACHMENT = /^attachment-\d+$/
const LIMITS = { fields: MAX_FORM_FIELDS, files: MAX_PARTS, fieldNameSize: 200, headerPairs: 50 }

/** Multipart if the mail has attachments. */
async function readForm(
  body: Buffer,
  contentType: string,
  sizes: { fieldSize: number; fileSize: number },
): Promise<Form> {
  // The parser itself would go on to read millions of tiny parts.
  if (/^multipart\//i.test(contentType)) new BoundaryCounter(requireFormBoundary(contentType), MAX_PARTS).count(body)
  const form: Form = { fields: new Map(), files: [] }
  try {
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: { ...LIMITS, ...sizes },
      preservePath: true,
      isPartAFile: (field = '', _type, name) => name !== undefined || ATTACHMENT.test(field),
    })
    await new Promise<void>((resolve, reject) => {
      parser.on('fieldsLimit', () => reject(tooManyFields()))
      parser.on('field', (name, value) => void (form.fields.has(name) || form.fields.set(name, value)))
      parser.on('file', (field, stream, name, _encoding, type) => addFile(form, stream, { field, name, type }))
      parser.on('finish', resolve).on('error', reject)
      parser.end(body)
    })
  } catch (error) {
    throw error instanceof Problem ? error : badRequest('body must be a form')
  }
  return form
}

function addFile(form: Form, stream: BusboyFileStream, head: { field: string; name: string; type: string }): void {
  const pieces: Buffer[] = []
  stream.on('error', () => {})
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  stream.on('end', () => {
    const { field, name, type } = head
    form.files.push({ field, name, contentType: type || 'application/octet-stream', bytes: Buffer.concat(pieces) })
  })
}

function readMail({ fields, files }: Form): ReceivedMail {
  const text = (name: string) => fields.get(name) ?? ''
  const headers = parseHeaders(text('message-headers'))
  const visible = [findHeader(headers, 'to'), findHeader(headers, 'cc')].join(',').split(',', MAX_RECIPIENTS)
  return {
    headers,
    from: parseHeaderMailbox(text('from')),
    replyTo: parseMailAddress(findHeader(headers, 'reply-to') ?? ''),
    recipients: [text('recipient'), ...visible.map((one) => parseHeaderMailbox(one)?.address ?? '')],
    subject: text('subject'),
    text: text('body-plain'),
    html: text('body-html'),
    files: listFiles(files, text('content-id-map')),
    report: isDeliveryReport(headers) ? { undelivered: null } : null,
    verdict: readMailgunVerdict(headers),
  }
}

const MAX_HEADER_VALUES = 10_000

/** A JSON list of pairs. */
function parseHeaders(text: string): MailHeaders {
  requireBoundedJson(Buffer.from(text), MAX_HEADER_VALUES)
  const pairs = tryParseJson(text)
  if (!Array.isArray(pairs)) return []
  return pairs.flatMap((pair) => {
    const [name, value] = Array.isArray(pair) ? pair : []
    return typeof name === 'string' && typeof value === 'string' ? [{ name: name.toLowerCase(), value }] : []
  })
}

const listFiles = (files: Form['files'], inline: string): FileBytes[] =>
  files.flatMap(({ field, name, contentType, bytes }) => {
    if (!ATTACHMENT.test(field)) return []
    if (inline.includes(`"${field}"`) && isInlineLogo(contentType, bytes.length)) return []
    return [{ name: name || 'attachment', contentType, bytes: copyBytes(bytes) }]
  })
