/** The prefixes of ids in the API. */
export type IdPrefix =
  | 'org'
  | 'prj'
  | 'mem'
  | 'key'
  | 'task'
  | 'apr'
  | 'cmt'
  | 'conn'
  | 'chan'
  | 'cli'
  | 'thr'
  | 'msg'
  | 'mail'
  | 'kn'
  | 'case'
  | 'rec'
  | 'sch'
  | 'art'
  | 'hook'
  | 'dlv'
  | 'file'
  | 'ntf'
  | 'ntm'
  | 'app'
  | 'mca'

/**
 * An id in ULID layout: 48 bits of time, then 80 random bits. Ids sort by the millisecond of their creation; within one
 * millisecond their order is arbitrary.
 */
export function createId(prefix: IdPrefix, now: number, random: (bytes: number) => Uint8Array): string {
  return `${prefix}_${timeText(now)}${randomText(random(10))}`
}

/**
 * Creates ids one after another. When the clock is set back, each id is one millisecond after the previous one, so that
 * later rows stay later in lists and after every cursor that was already returned.
 */
export function createIdGenerator(
  now: () => number,
  random: (bytes: number) => Uint8Array,
): (prefix: IdPrefix) => string {
  let latest = 0
  return (prefix) => {
    const time = now()
    latest = time < latest ? latest + 1 : time
    return createId(prefix, latest, random)
  }
}

/** The form of the ids of a prefix. */
export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`)

/** Crockford's base32: no i, l, o, u; characters sort like their values. Pairs of characters are twice as fast. */
const ALPHABET = Array.from('0123456789abcdefghjkmnpqrstvwxyz')
const PAIRS = ALPHABET.flatMap((first) => ALPHABET.map((second) => first + second))

function timeText(now: number): string {
  let text = ''
  let rest = Math.floor(now)
  for (let pair = 0; pair < 5; pair++) {
    text = PAIRS[rest % 1024] + text
    rest = Math.floor(rest / 1024)
  }
  return text
}

function randomText(bytes: Uint8Array): string {
  let text = ''
  let pending = 0
  let bits = 0
  for (const byte of bytes) {
    pending = ((pending & 1023) << 8) | byte
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += PAIRS[(pending >>> bits) & 1023]
  }
  return text
}
