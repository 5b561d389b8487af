import { isJsonObject, type Json } from '../base/json.ts'

export const MASK = '[secret]'

/** Takes the secrets out of what comes from outside, in the spellings that an echo may have. */
export interface Mask {
  text(value: string): string
  json(value: Json): Json
}

export function maskOf(secrets: readonly (string | null | undefined)[]): Mask {
  const forms = [...new Set(secrets.flatMap((secret) => (secret ? spellings(secret) : [])))]
  // The longest first, so that no part of a secret remains beside the mask of a shorter spelling.
  forms.sort((a, b) => b.length - a.length)
  const text = (value: string) => forms.reduce((masked, form) => masked.replaceAll(form, MASK), value)
  return { text, json: (value) => maskJson(value, text) }
}

/** Short secrets are masked as they are: their encoded forms would occur by chance. */
const SHORT = 6

function spellings(secret: string): string[] {
  if (secret.length < SHORT) return [secret]
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  return [
    secret,
    ...(secret.startsWith('whsec_') ? [secret.slice('whsec_'.length)] : []),
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    hex,
    hex.toUpperCase(),
    ...base64Cores(bytes),
  ]
}

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
  if (typeof value === 'number') return text(String(value)) === String(value) ? value : MASK
  if (Array.isArray(value)) return value.map((item) => maskJson(item, text))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), maskJson(item, text)]))
}
