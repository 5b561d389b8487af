import type { Logger } from 'pino'
import type { IdPrefix } from '../base/ids.ts'

/**
 * Everything that does not come from the database: time, randomness, ids, password cost, log, environment. Tests inject
 * their own.
 */
export interface World {
  clock: Clock
  random: (bytes: number) => Uint8Array
  newId: (prefix: IdPrefix) => string
  /** The scrypt parameters for hashes of passwords. */
  passwordCost: { N: number; r: number; p: number }
  log: Logger
  /** Reads a setting of the service. A secret is read on the line that uses it and is not kept. */
  env: (name: string) => string | undefined
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** From now on `now` returns the time of the store, so that all replicas agree. The test clock has no such method. */
  follow?(now: () => number): void
  /** Calls once after this time; the returned function cancels the call. */
  after(ms: number, call: () => void): () => void
}

/** Caches the last result: one change formats the same time several times, and formatting costs a microsecond. */
export function toIsoTime(ms: number): string {
  if (ms !== lastIsoTime.ms) {
    lastIsoTime.ms = ms
    lastIsoTime.text = new Date(ms).toISOString()
  }
  return lastIsoTime.text
}

const lastIsoTime = { ms: 0, text: new Date(0).toISOString() }

/** The current time in the format of rows and responses. */
export const isoNow = ({ world }: { world: Pick<World, 'clock'> }): string => toIsoTime(world.clock.now())

/** Resolves after this time, or at once when the signal is aborted. */
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
