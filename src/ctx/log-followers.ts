/** Events of one commit, or some of many, serialised once and shared by everyone who follows the log. */
export interface EventChunk {
  first: number
  last: number
  frames: EventFrame[]
  /** All frames joined: what a follower without a filter is sent as it is. */
  bytes: Buffer
  finished: boolean
}

export interface EventFrame {
  seq: number
  type: string
  text: string
  /** As a client may read it; empty where it may not, absent until one asks. */
  clientText?: string
}

/** How one kind of reader is shown a frame. */
export type FrameView = (frame: EventFrame) => string

/** What a log holds beyond some number, and whether that is not yet all. */
export interface LogRead {
  chunks: EventChunk[]
  more: boolean
}

/** One who follows a log. */
export interface LogFollower {
  /** Events that were committed; in order, but maybe some that it has and some not. */
  receive(chunks: readonly EventChunk[]): void
  /** The log has grown, nobody can say by what. */
  wake(): void
}

/** A log that somebody follows here. */
interface FollowedLog {
  seats: Set<LogFollower>
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
export class LogFollowers {
  readonly #logs = new Map<string, FollowedLog>()

  isFollowed(taskId: string): boolean {
    return this.#logs.has(taskId)
  }

  /** The logs that somebody follows, for the poll that finds what a lost bell did not tell. */
  followedTaskIds(): string[] {
    return [...this.#logs.keys()]
  }

  publish(taskId: string, chunks: readonly EventChunk[]): void {
    const log = this.#logs.get(taskId)
    if (log) deliverChunks(log, chunks)
  }

  /** A follower has read the log up to here, and found its end. */
  markCaughtUp(taskId: string, seq: number): void {
    const log = this.#logs.get(taskId)
    if (log) log.last = Math.max(log.last ?? 0, seq)
  }

  /** Whether the log has grown beyond what those who are caught up have. */
  isBehind(taskId: string, head: number): boolean {
    const last = this.#logs.get(taskId)?.last
    return typeof last === 'number' && last < head
  }

  /**
   * Another replica appended: what it wrote is in the log, not here. It is read once for all followers, however many
   * they are and however often this is called meanwhile.
   */
  async catchUp(taskId: string, read: (after: number) => Promise<LogRead>): Promise<void> {
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
        const { chunks, more } = await read(log.last)
        if (chunks.length > 0) deliverChunks(log, chunks)
        log.again ||= more
      }
    } finally {
      log.reading = false
    }
  }

  /** Until the returned function is called. */
  subscribe(taskId: string, seat: LogFollower): () => void {
    const log = this.#logs.get(taskId) ?? { seats: new Set(), last: null, reading: false, again: false }
    log.seats.add(seat)
    this.#logs.set(taskId, log)
    return () => {
      log.seats.delete(seat)
      if (log.seats.size === 0 && this.#logs.get(taskId) === log) this.#logs.delete(taskId)
    }
  }
}

function deliverChunks(log: FollowedLog, chunks: readonly EventChunk[]): void {
  log.last = Math.max(log.last ?? 0, chunks.at(-1)?.last ?? 0)
  for (const seat of log.seats) seat.receive(chunks)
}
