import { isJsonObject, type Json } from '../../platform/base/json.ts'

export const SECRET_MASK = '[secret]'

/** Replaces secrets in responses from outside, including their encoded and escaped forms. */
export interface SecretMask {
  text(value: string): string
  json(value: Json): Json
}

export function createSecretMask(secrets: readonly (string | null | undefined)[]): SecretMask {
  // A server receives a header value without surrounding spaces, so it may echo the trimmed secret.
  const trimmed = secrets.map((secret) => secret?.trim() ?? '')
  const forms = new Set(trimmed.flatMap(encodedForms).filter((form) => form !== ''))
  // Longest form first: masking a shorter form first would leave the rest of the longer one readable.
  const masks = [...forms].toSorted((a, b) => b.length - a.length).map(maskForm)
  const text = (value: string) => masks.reduce((masked, mask) => mask(masked), value)
  return { text, json: (value) => maskJson(value, text) }
}

/** Encoded forms of shorter secrets would match unrelated text by chance, so only the secret itself is masked. */
const MIN_ENCODED_CHARACTERS = 6

function encodedForms(secret: string): string[] {
  if (secret.length < MIN_ENCODED_CHARACTERS) return [secret]
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  return [
    secret,
    ...(secret.startsWith('whsec_') ? [secret.slice('whsec_'.length)] : []),
    hex,
    hex.toUpperCase(),
    ...base64Cores(bytes),
  ]
}

/** No text format escapes these characters. */
const NEVER_ESCAPED = /^[A-Za-z0-9_.-]*$/

/** Masks one form, plain and escaped; formats differ in which characters they escape, and how. */
function maskForm(form: string): (text: string) => string {
  const maskPlain = (text: string) => (text.length < form.length ? text : text.replaceAll(form, SECRET_MASK))
  if (form.length < MIN_ENCODED_CHARACTERS || NEVER_ESCAPED.test(form)) return maskPlain
  const spellings: Spellings = new Map(
    [...new Set(form)].map((character) => [character, characterSpellings(character)]),
  )
  const start = startPattern(form, spellings)
  return (text) => {
    // No spelling is shorter than its character, and every escaped spelling contains one of these characters.
    const mayEscape = text.length >= form.length && /[\\%&+]/.test(text)
    return mayEscape ? maskEscaped(maskPlain(text), form, spellings, start) : maskPlain(text)
  }
}

type Spellings = Map<string, string[]>

/** Matches where the form may start. A pattern of the whole form would be too large: a secret may have 65,536 characters. */
function startPattern(form: string, spellings: Spellings): RegExp {
  const first = Array.from(form).slice(0, MIN_ENCODED_CHARACTERS)
  const starts = first.map((character) => (spellings.get(character) ?? [character]).map(escapePattern))
  return new RegExp(`(?=${starts.map((options) => `(?:${options.join('|')})`).join('')})`, 'g')
}

function maskEscaped(text: string, form: string, spellings: Spellings, start: RegExp): string {
  let masked = ''
  let from = 0
  for (const { index } of text.matchAll(start)) {
    const end = index < from ? null : findEnd(text, index, form, spellings)
    if (end === null) continue
    masked += text.slice(from, index) + SECRET_MASK
    from = end
  }
  return masked + text.slice(from)
}

function findEnd(text: string, start: number, form: string, spellings: Spellings): number | null {
  let end = start
  for (const character of form) {
    const spelling = spellings.get(character)?.find((one) => text.startsWith(one, end))
    if (spelling === undefined) return null
    end += spelling.length
  }
  return end
}

/** A character as plain text, in URLs and forms, in JSON and scripts, and in HTML; longest spelling first. */
function characterSpellings(character: string): string[] {
  if (NEVER_ESCAPED.test(character)) return [character]
  const code = character.codePointAt(0) ?? 0
  const bytes = Buffer.from(character).toString('hex').replaceAll(/../g, '%$&')
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  const hex = [bytes, units.map((unit) => `\\u${unit}`).join(''), `&#x${code.toString(16)};`]
  const spellings = [
    ...hex,
    ...hex.map((spelling) => spelling.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase())),
    JSON.stringify(character).slice(1, -1),
    `\\${character}`,
    `&#${code};`,
    `&#0${code};`,
    HTML_ENTITIES[character] ?? character,
    character === ' ' ? '+' : character,
    character,
  ]
  return [...new Set(spellings)].toSorted((a, b) => b.length - a.length)
}

const HTML_ENTITIES: Record<string, string | undefined> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/**
 * Base64 encodes three bytes at a time, so a secret inside a longer text has three encodings. Characters that depend on
 * the neighbouring bytes are left out of each.
 */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const core = text.slice(before === 0 ? 0 : before + 1, (before + bytes.length) % 3 === 0 ? undefined : -1)
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function maskJson(value: Json, text: (value: string) => string): Json {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'number') return text(String(value)) === String(value) ? value : SECRET_MASK
  if (Array.isArray(value)) return value.map((item) => maskJson(item, text))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), maskJson(item, text)]))
}
