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

/** A log that somebody follows here. */
interface Followed {
  seats: Set<Seat>
  /** The newest event that all who are caught up have, or are being handed; null until one of them has read the log to its end. */
  last: number | null
  /** Whether the log is being read for all of them, and whether that must be done once more. */
  reading: boolean
  again: boolean
}

/**
 * The followers of each log on this replica. A follower that is caught up is handed chunks straight after the commit;
 * one that reads the log itself ignores them. Logs that nobody follows cost nothing.
 */
export class Tails {
  readonly #logs = new Map<string, Followed>()

  followed(taskId: string): boolean {
    return this.#logs.has(taskId)
  }

  /** The logs that somebody follows, for the poll that finds what a lost bell did not tell. */
  taskIds(): string[] {
    return [...this.#logs.keys()]
  }

  publish(taskId: string, chunk: Chunk): void {
    const log = this.#logs.get(taskId)
    if (log) hand(log, chunk)
  }

  /** A follower has read the log up to here, and found its end. */
  reached(taskId: string, seq: number): void {
    const log = this.#logs.get(taskId)
    if (log) log.last = Math.max(log.last ?? 0, seq)
  }

  /** Whether the log has grown beyond what those who are caught up have. */
  lags(taskId: string, head: number): boolean {
    const last = this.#logs.get(taskId)?.last
    return typeof last === 'number' && last < head
  }

  /**
   * Another replica appended: what it wrote is in the log, not here. It is read once for all followers, however many
   * they are and however often this is called meanwhile.
   */
  async catchUp(taskId: string, read: (after: number) => Promise<Chunk | null>): Promise<void> {
    const log = this.#logs.get(taskId)
    if (!log) return
    // Nobody has come to the end of the log yet: all still read it themselves, and shall look once more.
    if (log.last === null) {
      for (const seat of log.seats) seat.wake()
      return
    }
    log.again = true
    if (log.reading) return
    log.reading = true
    try {
      while (log.again && log.seats.size > 0) {
        log.again = false
        for (let chunk = await read(log.last); chunk; chunk = await read(log.last)) hand(log, chunk)
      }
    } finally {
      log.reading = false
    }
  }

  sit(taskId: string): Seat {
    const log = this.#logs.get(taskId) ?? { seats: new Set(), last: null, reading: false, again: false }
    this.#logs.set(taskId, log)
    const seat = new Seat(() => {
      log.seats.delete(seat)
      if (log.seats.size === 0 && this.#logs.get(taskId) === log) this.#logs.delete(taskId)
    })
    log.seats.add(seat)
    return seat
  }
}

function hand(log: Followed, chunk: Chunk): void {
  log.last = Math.max(log.last ?? 0, chunk.last)
  for (const seat of log.seats) seat.offer(chunk)
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
