/** Events of one commit, serialised once and shared by everyone who follows the log. */
export interface Chunk {
  first: number
  last: number
  frames: Frame[]
  /** All frames joined: what a follower without a filter is sent as it is. */
  bytes: Buffer
  finished: boolean
}

export interface Frame {
  seq: number
  type: string
  text: string
}

/** A consumer further behind than this is cut off and told to reconnect. */
export const MOST_BEHIND = 5000

/**
 * The followers of each log on this replica. A follower that is caught up is handed chunks straight after the commit;
 * one that reads the log itself ignores them. Logs that nobody follows cost nothing.
 */
export class Tails {
  readonly #seats = new Map<string, Set<Seat>>()

  followed(taskId: string): boolean {
    return this.#seats.has(taskId)
  }

  /** The logs that somebody follows, for the poll that finds what a lost bell did not tell. */
  taskIds(): string[] {
    return [...this.#seats.keys()]
  }

  publish(taskId: string, chunk: Chunk): void {
    const seats = this.#seats.get(taskId)
    if (seats) for (const seat of seats) seat.offer(chunk)
  }

  /** Another replica appended: what it wrote is in the log, not here. */
  nudge(taskId: string): void {
    const seats = this.#seats.get(taskId)
    if (seats) for (const seat of seats) seat.wake()
  }

  sit(taskId: string): Seat {
    const seat = new Seat(() => {
      const seats = this.#seats.get(taskId)
      seats?.delete(seat)
      if (seats?.size === 0) this.#seats.delete(taskId)
    })
    this.#seats.set(taskId, (this.#seats.get(taskId) ?? new Set()).add(seat))
    return seat
  }
}

/** One follower's place: the chunks that it has not taken yet, and a wake-up. */
export class Seat {
  #queue: Chunk[] = []
  #queued = 0
  #listening = false
  #wake: ((why: Wake) => void) | null = null
  #rung: Wake | null = null
  overflowed = false
  readonly leave: () => void

  constructor(leave: () => void) {
    this.leave = leave
  }

  /** From now on chunks wait here. */
  listen(): void {
    this.#listening = true
  }

  /** The log is being read: what is committed meanwhile will be found there. */
  ignore(): void {
    this.#listening = false
    this.#queue = []
    this.#queued = 0
  }

  offer(chunk: Chunk): void {
    if (!this.#listening) return
    this.#queue.push(chunk)
    this.#queued += chunk.frames.length
    if (this.#queued > MOST_BEHIND) {
      this.overflowed = true
      this.ignore()
    }
    this.#ring('chunks')
  }

  take(): Chunk[] {
    const taken = this.#queue
    this.#queue = []
    this.#queued = 0
    return taken
  }

  wake(): void {
    this.#ring('ask the log')
  }

  /** Resolves at the next wake-up; at once if one came since the last wait. */
  waited(): Promise<Wake> {
    return new Promise((resolve) => {
      this.#wake = (why) => {
        this.#wake = null
        this.#rung = null
        resolve(why)
      }
      if (this.#rung) this.#wake(this.#rung)
    })
  }

  #ring(why: Wake): void {
    if (this.#rung !== 'ask the log') this.#rung = why
    this.#wake?.(this.#rung)
  }
}

type Wake = 'chunks' | 'ask the log'
