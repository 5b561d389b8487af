import { isJsonObject, type Json } from '../base/json.ts'

const MAX_STRING_CHARS = 4096
/** A value with more JSON text than this is replaced by the beginning of that text. */
const MAX_VALUE_CHARS = 16_384

/** The value with long strings truncated, for an event. */
export function truncateValue(value: Json): { value: Json; isTruncated: boolean } {
  const state = { isTruncated: false }
  const short = truncateStrings(value, state)
  const text = JSON.stringify(short)
  const small = text.length > MAX_VALUE_CHARS ? truncateStrings(text, state) : short
  return { value: small, isTruncated: state.isTruncated }
}

function truncateStrings(value: Json, state: { isTruncated: boolean }): Json {
  if (typeof value === 'string') {
    if (value.length <= MAX_STRING_CHARS) return value
    state.isTruncated = true
    return truncateText(value, MAX_STRING_CHARS)
  }
  if (Array.isArray(value)) return value.map((item) => truncateStrings(item, state))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, truncateStrings(item, state)]))
}

/** Does not cut between the two halves of a surrogate pair, because one half is not valid text. */
export function truncateText(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
