import { isBeginningOf, toComparable } from './repeated-text.ts'
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
  const telling = texts
    .filter((value) => !ID.test(value))
    .map((text, place) => ({ text, place, compared: toComparable(text) }))
  return telling
    .filter((value) => !telling.some((other) => other !== value && isRepeatedBy(value, other)))
    .slice(0, 3)
    .map(({ text }) => text)
    .join(' · ')
    .slice(0, 120)
}

interface ComparedText {
  place: number
  compared: string
}

/** Without a subject, the title of a conversation is the beginning of its message. Of two equal texts the first one stays. */
const isRepeatedBy = ({ place, compared }: ComparedText, other: ComparedText): boolean =>
  compared === other.compared ? other.place < place : isBeginningOf(compared, other.compared)
