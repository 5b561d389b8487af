import { objectField, textField, tryParseJsonObject } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'

const MAX_REASON_CHARS = 500

/** The provider's code for an error, if it is a plain word. */
export function providerErrorKind(body: JsonObject): string {
  const error = objectField(body, 'error')
  const kind = [textField(error, 'code'), textField(error, 'type')].find((word) => /^[a-z][a-z_]{2,40}$/.test(word))
  return kind === undefined ? '' : ` (${kind})`
}

/** The provider's own sentence about an error, after a colon and without secrets. Servers use different fields. */
export function providerErrorReason(body: JsonObject, key: string | null): string {
  const sentence = [
    textField(objectField(body, 'error'), 'message'),
    textField(body, 'error'),
    textField(body, 'message'),
  ]
  return toReason(sentence.find(Boolean) ?? '', key)
}

/** The kind and the reason of a refusal. A server that does not answer with JSON may say the reason as plain text. */
export function parseRefusal(status: number, text: string, key: string | null): { kind: string; reason: string } {
  const body = tryParseJsonObject(text)
  const kind = providerErrorKind(body ?? {})
  // Providers quote parts of a key that they do not accept.
  if (status === 401 || status === 403) return { kind, reason: '' }
  return { kind, reason: body ? providerErrorReason(body, key) : toReason(text.startsWith('<') ? '' : text, key) }
}

function toReason(sentence: string, key: string | null): string {
  const known = key ? sentence.replaceAll(key, REMOVED) : sentence
  const text = known
    .replaceAll(LOOKS_LIKE_KEY, REMOVED)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
  return text === '' ? '' : `: ${text.slice(0, MAX_REASON_CHARS)}`
}

const REMOVED = '[removed]'
const LOOKS_LIKE_KEY = /\b(?:sk|pk|rk)-[\w*.-]{4,}|\bbearer\s+\S+/gi
