/**
 * The time of the database, which all replicas share, carried on between looks by this machine's steady clock. So
 * neither a replica whose clock is wrong nor one whose clock jumps ends anything early or late.
 */
export class StoreClock {
  #ms = Date.now()
  #at = performance.now()

  now(): number {
    return Math.floor(this.#ms + performance.now() - this.#at)
  }

  /** What the database said, and when it was asked and heard by the steady clock. */
  sync(ms: number, asked: number, answered: number): void {
    const at = (asked + answered) / 2
    const off = Math.abs(this.#ms + at - this.#at - ms)
    // A difference that may come from the way there is none: time should not tremble.
    if (off <= (answered - asked) / 2 + MAX_JITTER_MS) return
    this.#ms = ms
    this.#at = at
  }
}

const MAX_JITTER_MS = 100

export const SELECT_DATABASE_TIME = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms'
