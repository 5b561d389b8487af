/** Prefixes of everything that the API names by id. */
export type IdPrefix =
  | 'org'
  | 'prj'
  | 'mem'
  | 'key'
  | 'task'
  | 'apr'
  | 'conn'
  | 'chan'
  | 'cli'
  | 'thr'
  | 'msg'
  | 'kn'
  | 'case'
  | 'rec'
  | 'sch'
  | 'art'
  | 'hook'
  | 'dlv'

/**
 * An id in ULID layout: 48 bits of time, then 80 random bits. Ids sort by the millisecond they were made in; within one
 * millisecond their order is arbitrary. `random` must give exactly as many bytes as it is asked for.
 */
export function createId(prefix: IdPrefix, now: number, random: (bytes: number) => Uint8Array): string {
  return `${prefix}_${timeText(now)}${randomText(random(10))}`
}

/**
 * Makes ids one after another. When the clock is set back they go on from where they were, a millisecond each: what came
 * later stays later in lists, and does not fall behind what was read up to some id.
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

/** What the ids of a prefix look like. */
export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`)

/** Crockford's base32: no i, l, o, u; its characters sort like their values. Taken by pairs, which is twice as fast. */
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
