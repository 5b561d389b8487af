import { isJsonObject, type JsonObject } from '../../../platform/base/json.ts'
import { tryParseJsonObject } from '../../../platform/base/json-fields.ts'
import { parseFormFields } from '../../../platform/base/parse-form.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { parseStrictJson, requireBoundedJson } from '../../../platform/base/strict-json.ts'

/** More than a message of a chat has: one of Slack has some for each piece of formatted text. */
const MAX_JSON_VALUES = 30_000
/** More than a mail has: three for each recipient. */
export const MAX_MAIL_VALUES = 100_000
export const MAX_FORM_FIELDS = 1000

/** A body that must be a JSON object. */
export function parseJsonObject(body: Buffer, _options: null): JsonObject {
  requireBoundedJson(body, MAX_JSON_VALUES)
  const value = parseStrictJson(body)
  if (!isJsonObject(value)) throw badRequest('body must be a json object')
  return value
}

/** The fields of a form in their order. */
export function parseCallFields(body: Buffer, _options: null): [name: string, value: string][] {
  const fields = parseFormFields(body, MAX_FORM_FIELDS)
  if (!fields) throw tooManyFields()
  return fields
}

export const tooManyFields = () => badRequest(`body must not have more than ${MAX_FORM_FIELDS} fields`)

/** Slack sends events as JSON, and clicks, forms and commands as form fields. */
export interface SlackCall {
  event: JsonObject | null
  payload: JsonObject | null
  command: { user: string; text: string } | null
}

export function parseSlackCall(body: Buffer, _options: null): SlackCall {
  const event = tryParseBounded(body)
  if (event) return { event, payload: null, command: null }
  const form = new URLSearchParams(parseCallFields(body, null))
  const payload = tryParseBounded(Buffer.from(form.get('payload') ?? ''))
  const user = form.get('user_id') ?? ''
  const isCommand = form.has('command') && user !== ''
  return { event: null, payload, command: isCommand ? { user, text: form.get('text') ?? '' } : null }
}

function tryParseBounded(text: Buffer): JsonObject | null {
  if (!/^[\s\ufeff]*\{/.test(text.toString('utf8', 0, 20))) return null
  requireBoundedJson(text, MAX_JSON_VALUES)
  return tryParseJsonObject(text.toString('utf8'))
}
