import { isJsonObject, type Json } from '../base/json.ts'

export const SECRET_MASK = '[secret]'

/** Takes the secrets out of what comes from outside, in the spellings that an echo may have. */
export interface SecretMask {
  text(value: string): string
  json(value: Json): Json
}

export function createSecretMask(secrets: readonly (string | null | undefined)[]): SecretMask {
  // The other side hears a header without the blanks around it.
  const heard = secrets.map((secret) => secret?.trim() ?? '')
  const forms = new Set(heard.flatMap(encodedForms).filter((form) => form !== ''))
  // The longest first, so that no part of a secret remains beside the mask of a shorter spelling.
  const masks = [...forms].toSorted((a, b) => b.length - a.length).map(maskForm)
  const text = (value: string) => masks.reduce((masked, mask) => mask(masked), value)
  return { text, json: (value) => maskJson(value, text) }
}

/** Short secrets are masked as they are: their encoded forms would occur by chance. */
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

/** Nothing escapes these characters, so a form of them alone is only ever written as it is. */
const NEVER_ESCAPED = /^[A-Za-z0-9_.-]*$/

/** Masks one form, also where a text escapes it: formats differ in which characters they escape, and how. */
function maskForm(form: string): (text: string) => string {
  const asItIs = (text: string) => (text.length < form.length ? text : text.replaceAll(form, SECRET_MASK))
  if (form.length < MIN_ENCODED_CHARACTERS || NEVER_ESCAPED.test(form)) return asItIs
  const ways: Spellings = new Map([...new Set(form)].map((character) => [character, characterSpellings(character)]))
  const begins = startPattern(form, ways)
  return (text) => {
    // No way to write a character is shorter than the character, and every other one has one of these.
    const mayEscape = text.length >= form.length && /[\\%&+]/.test(text)
    return mayEscape ? maskEscaped(asItIs(text), form, ways, begins) : asItIs(text)
  }
}

type Spellings = Map<string, string[]>

/** Where the form may begin. A pattern of the whole could not be: a secret may have 64 K characters. */
function startPattern(form: string, ways: Spellings): RegExp {
  const first = Array.from(form).slice(0, MIN_ENCODED_CHARACTERS)
  const some = first.map((character) => (ways.get(character) ?? [character]).map(escapePattern))
  return new RegExp(`(?=${some.map((spelled) => `(?:${spelled.join('|')})`).join('')})`, 'g')
}

function maskEscaped(text: string, form: string, ways: Spellings, begins: RegExp): string {
  let masked = ''
  let from = 0
  for (const { index } of text.matchAll(begins)) {
    const end = index < from ? null : findEnd(text, index, form, ways)
    if (end === null) continue
    masked += text.slice(from, index) + SECRET_MASK
    from = end
  }
  return masked + text.slice(from)
}

function findEnd(text: string, start: number, form: string, ways: Spellings): number | null {
  let end = start
  for (const character of form) {
    const way = ways.get(character)?.find((spelling) => text.startsWith(spelling, end))
    if (way === undefined) return null
    end += way.length
  }
  return end
}

/** A character as it is, in URLs and forms, in JSON and scripts, and in HTML; the longest way first. */
function characterSpellings(character: string): string[] {
  if (NEVER_ESCAPED.test(character)) return [character]
  const code = character.codePointAt(0) ?? 0
  const bytes = Buffer.from(character).toString('hex').replaceAll(/../g, '%$&')
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  const hex = [bytes, units.map((unit) => `\\u${unit}`).join(''), `&#x${code.toString(16)};`]
  const ways = [
    ...hex,
    ...hex.map((way) => way.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase())),
    JSON.stringify(character).slice(1, -1),
    `\\${character}`,
    `&#${code};`,
    `&#0${code};`,
    HTML_ENTITIES[character] ?? character,
    character === ' ' ? '+' : character,
    character,
  ]
  return [...new Set(ways)].toSorted((a, b) => b.length - a.length)
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
 * Base64 spells three bytes at a time, so a secret inside a longer text has three spellings. Of each, the characters
 * that depend on the neighbours are left off.
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
