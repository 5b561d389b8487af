import { isJsonObject, type Json } from '../base/json.ts'
import type { SentMail } from './reply.ts'

/** The mail in a payload that went to an email connection, by the field names that mail APIs use; null when it has no text. */
export function parseSentMail(payload: Json): SentMail | null {
  if (!isJsonObject(payload)) return null
  const body = ['text', 'body', 'html', 'content'].map((key) => payload[key]).find((value) => typeof value === 'string')
  if (typeof body !== 'string') return null
  const { subject, to } = payload
  const recipients = (Array.isArray(to) ? to : [to]).filter((one) => typeof one === 'string')
  return { body, subject: typeof subject === 'string' ? subject : null, to: recipients }
}
