import type { Json } from './types.ts'

/** Ids of the service, which mean nothing to a reader. */
const ID = /^[a-z]{2,6}_[0-9a-z]{26}$/

const MAX_VALUES = 20

/** The first plain values of the input, which tell one task from another in a list. */
export function summarizeInput(input: Json): string {
  if (typeof input === 'string') return input.slice(0, 120)
  if (typeof input !== 'object' || input === null) return ''
  const plain = Object.values(input).filter((value) => typeof value === 'string' || typeof value === 'number')
  const texts = plain.slice(0, MAX_VALUES).map((value) => String(value).trim())
  const telling = texts.filter((value) => !ID.test(value))
  return telling
    .filter((value, n) => !telling.some((other, m) => m !== n && isRepeatedBy(value, other, m < n)))
    .slice(0, 3)
    .join(' · ')
    .slice(0, 120)
}

/** Without a subject, the title of a conversation is the beginning of its message. Of two equal texts the first one stays. */
function isRepeatedBy(value: string, other: string, isOtherFirst: boolean): boolean {
  const [text, longer] = [withoutEllipsis(value), withoutEllipsis(other)]
  return text === longer ? isOtherFirst : text.length > 1 && longer.startsWith(text) && /\D/.test(text)
}

/** A long title was cut. */
const withoutEllipsis = (text: string) => (text.endsWith('…') ? text.slice(0, -1).trimEnd() : text)
