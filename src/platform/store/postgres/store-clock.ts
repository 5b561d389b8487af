/**
 * The clock of the database, which all replicas share. Between two readings, the monotonic clock of this machine is added.
 * So a replica whose own clock is wrong or jumps does not end leases or approvals early or late.
 */
export class StoreClock {
  #databaseMs = Date.now()
  #readAt = performance.now()

  now(): number {
    return Math.floor(this.#databaseMs + performance.now() - this.#readAt)
  }

  /** The time that the database returned, and when the request was sent and the response received (monotonic clock). */
  sync(databaseMs: number, sentAt: number, receivedAt: number): void {
    const readAt = (sentAt + receivedAt) / 2
    const offset = Math.abs(this.#databaseMs + readAt - this.#readAt - databaseMs)
    // Ignore offsets within the round-trip error so that the clock does not jitter.
    if (offset <= (receivedAt - sentAt) / 2 + MAX_JITTER_MS) return
    this.#databaseMs = databaseMs
    this.#readAt = readAt
  }
}

const MAX_JITTER_MS = 100

export const SELECT_DATABASE_TIME = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms'
