import { objectField, textField, tryParseJsonObject } from '../../platform/base/json-fields.ts'
import type { JsonObject } from '../../platform/base/json.ts'

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
  // Providers quote parts of a key that they do not accept, and the reason is known.
  if (status === 401) return { kind, reason: '' }
  return { kind, reason: body ? providerErrorReason(body, key) : toReason(text.startsWith('<') ? '' : text, key) }
}

function toReason(sentence: string, key: string | null): string {
  const text = removeKey(sentence, key)
    .replaceAll(LOOKS_LIKE_KEY, REMOVED)
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
  return text === '' ? '' : `: ${text.slice(0, MAX_REASON_CHARS)}`
}

/** Also removes a key of which a provider shows only the beginning or the end, as in `abcd…wxyz`. */
function removeKey(sentence: string, key: string | null): string {
  if (key === null) return sentence
  const withoutKey = sentence.replaceAll(key, REMOVED)
  if (key.length < MIN_SECRET_CHARS) return withoutKey
  const [start, end] = [key.slice(0, SHOWN_KEY_CHARS), key.slice(-SHOWN_KEY_CHARS)]
  // Word by word, so that the time grows only with the length: an agent can make a provider repeat a long word.
  return withoutKey.replaceAll(/\S+/g, (word) =>
    SHORTENED.test(word) && (word.includes(start) || word.includes(end)) ? REMOVED : word,
  )
}

const SHORTENED = /\*{2}|\.{3}|…/

/** Shorter keys are placeholders for servers that need none. */
const MIN_SECRET_CHARS = 12
/** Providers show about this much of a key. */
const SHOWN_KEY_CHARS = 4

const REMOVED = '[removed]'
const LOOKS_LIKE_KEY = /\b(?:sk|pk|rk)-[\w*.-]{4,}|\bbearer\s+\S+/gi
