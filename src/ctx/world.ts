import type { Logger } from 'pino'
import type { IdPrefix } from '../base/ids.ts'

/**
 * All that is not a function of rows: time and what shall take some, chance, the log, the environment. Tests bring their
 * own.
 */
export interface World {
  clock: Clock
  random: (bytes: number) => Uint8Array
  newId: (prefix: IdPrefix) => string
  /** Of scrypt: what it costs to hash a password, and so to guess one. */
  passwordCost: { N: number; r: number; p: number }
  log: Logger
  /** Reads the service's own settings; used on the line that needs a secret, never kept. */
  env: (name: string) => string | undefined
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Takes the time from elsewhere from now on: of the store, so that all replicas agree. A test's own clock does not. */
  follow?(now: () => number): void
  /** Calls once after so many milliseconds, unless cancelled by the returned function. */
  after(ms: number, call: () => void): () => void
}

/** Remembers the last answer: one change asks for the same moment several times, and each costs a microsecond. */
export function toIsoTime(ms: number): string {
  if (ms !== lastIsoTime.ms) {
    lastIsoTime.ms = ms
    lastIsoTime.text = new Date(ms).toISOString()
  }
  return lastIsoTime.text
}

const lastIsoTime = { ms: 0, text: new Date(0).toISOString() }

/** The moment it is, as rows and answers tell it. */
export const isoNow = ({ world }: { world: Pick<World, 'clock'> }): string => toIsoTime(world.clock.now())

/** Resolves after so long, or at once when the signal fires. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const cancel = clock.after(ms, finish)
    signal?.addEventListener('abort', finish, { once: true })
    function finish() {
      cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
  })
}
