import type { Json } from './json.ts'
import { badRequest } from './problem.ts'

const MAX_LEVELS = 64

/**
 * Parses JSON of a request, or throws a 400. An accepted value can be stored in both stores and serialised unchanged:
 * PostgreSQL refuses NUL, UTF-8 cannot encode lone surrogates, and JSON cannot express infinity.
 * Keys such as `__proto__` become plain own fields, as with `JSON.parse`.
 */
export function parseStrictJson(bytes: Uint8Array): Json {
  const text = decode(bytes)
  const suspicious = scan(bytes)
  const value = parse(text)
  if (suspicious) refuseUnstorable(value)
  return value
}

/**
 * Throws a 400 for JSON that nests too deeply or has more values than this. To parse a few megabytes of empty lists takes
 * seconds, to count them takes none.
 */
export function requireBoundedJson(bytes: Uint8Array, maxValues: number): void {
  scan(bytes, maxValues)
}

/** Whether a text has at most this many values, and no more levels than a request may have. Each value has a character. */
export function isBoundedJson(text: string, maxValues: number): boolean {
  if (text.length <= maxValues) return true
  try {
    scan(Buffer.from(text), maxValues)
    return true
  } catch {
    return false
  }
}

/** The same checks for a value that is already parsed. */
export function requireStrictJson(value: Json): Json {
  refuseUnstorable(value)
  return value
}

/** `ignoreBOM` keeps a byte order mark in the text, so that the parser refuses it. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw badRequest('json must be valid utf-8')
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('malformed json')
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const COMMA = 0x2c

/**
 * Limits the nesting before parsing, and returns whether the parsed value must be checked: only an escape can produce
 * NUL or a lone surrogate, and only an exponent or 309 digits can produce infinity.
 */
function scan(bytes: Uint8Array, maxValues = Infinity): boolean {
  let suspicious = false
  let level = 0
  let values = 1
  let digits = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at)
      suspicious ||= end.escaped
      at = end.at
      digits = 0
    } else if (isDigit(byte)) {
      digits++
      suspicious ||= digits > 308
    } else {
      suspicious ||= digits > 0 && isExponent(byte)
      digits = 0
      if (isOpening(byte) && ++level > MAX_LEVELS) throw tooDeep()
      if ((isOpening(byte) || byte === COMMA) && ++values > maxValues)
        throw badRequest(`json must not have more than ${maxValues} values`)
      if (isClosing(byte)) level--
    }
  }
  return suspicious
}

function stringEnd(bytes: Uint8Array, start: number): { at: number; escaped: boolean } {
  let escaped = false
  let at = start + 1
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) {
    if (bytes[at] !== BACKSLASH) continue
    at++
    escaped ||= bytes[at] === LETTER_U
  }
  return { at, escaped }
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39
const isExponent = (byte: number | undefined) => byte === 0x65 || byte === 0x45
const isOpening = (byte: number | undefined) => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number | undefined) => byte === 0x7d || byte === 0x5d

function refuseUnstorable(value: Json, level = 0): void {
  if (typeof value === 'string') return refuseUnstorableText(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw badRequest('json must not contain numbers beyond 1.8e308')
  if (typeof value !== 'object' || value === null) return
  if (level === MAX_LEVELS) throw tooDeep()
  if (!Array.isArray(value)) Object.keys(value).forEach(refuseUnstorableText)
  for (const inner of Object.values(value)) refuseUnstorable(inner, level + 1)
}

const tooDeep = () => badRequest(`json must not nest deeper than ${MAX_LEVELS} levels`)

function refuseUnstorableText(text: string): void {
  if (text.includes('\0')) throw badRequest('json must not contain nul characters')
  if (!text.isWellFormed()) throw badRequest('json must not contain lone surrogates')
}
