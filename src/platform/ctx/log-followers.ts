/** Events that were committed together or read together, serialised once for all followers of the log. */
export interface EventChunk {
  first: number
  last: number
  frames: EventFrame[]
  /** All frames joined, for followers without a filter. */
  bytes: Buffer
  finished: boolean
}

export interface EventFrame {
  seq: number
  type: string
  text: string
  /** The text for the client plane; empty if a client may not read the event, absent until a client needs it. */
  clientText?: string
}

/** Returns the text of a frame for one kind of reader. */
export type FrameView = (frame: EventFrame) => string

/** Events after a given number, and whether the log has more. */
export interface LogRead {
  chunks: EventChunk[]
  more: boolean
}

export interface LogFollower {
  /** Committed events, in order. The follower may already have some of them. */
  receive(chunks: readonly EventChunk[]): void
  /** The log has new events that the follower must read itself. */
  wake(): void
}

/** A log with at least one follower on this replica. */
interface FollowedLog {
  followers: Set<LogFollower>
  /** The newest event that was delivered to the caught-up followers; null until one follower has read the whole log. */
  lastSeq: number | null
  /** Whether `catchUp` is reading the log for all followers. */
  isReading: boolean
  /** Whether `catchUp` was called while it was reading. */
  mustReadAgain: boolean
}

/**
 * The followers of each log on this replica. A caught-up follower gets chunks directly after the commit; a follower that
 * still reads the log itself ignores them. A log without followers costs nothing.
 */
export class LogFollowers {
  readonly #logs = new Map<string, FollowedLog>()

  isFollowed(taskId: string): boolean {
    return this.#logs.has(taskId)
  }

  /** The followed logs, for the poll that finds events whose hint was lost. */
  followedTaskIds(): string[] {
    return [...this.#logs.keys()]
  }

  publish(taskId: string, chunks: readonly EventChunk[]): void {
    const log = this.#logs.get(taskId)
    if (log) deliverChunks(log, chunks)
  }

  /** A follower calls this when it has read the log to its end. */
  markCaughtUp(taskId: string, seq: number): void {
    const log = this.#logs.get(taskId)
    if (log) log.lastSeq = Math.max(log.lastSeq ?? 0, seq)
  }

  /** Whether the log has events that the caught-up followers do not have. */
  isBehind(taskId: string, newestSeq: number): boolean {
    const lastSeq = this.#logs.get(taskId)?.lastSeq
    return typeof lastSeq === 'number' && lastSeq < newestSeq
  }

  /**
   * Called when another replica has appended events, which are in the store only. Reads them once for all followers,
   * even if it is called several times meanwhile.
   */
  async catchUp(taskId: string, read: (after: number) => Promise<LogRead>): Promise<void> {
    const log = this.#logs.get(taskId)
    if (!log) return
    // Every follower still reads the log itself, and must read on.
    if (log.lastSeq === null) {
      for (const follower of log.followers) follower.wake()
      return
    }
    log.mustReadAgain = true
    if (log.isReading) return
    log.isReading = true
    try {
      while (log.mustReadAgain && log.followers.size > 0) {
        log.mustReadAgain = false
        const { chunks, more } = await read(log.lastSeq)
        if (chunks.length > 0) deliverChunks(log, chunks)
        log.mustReadAgain ||= more
      }
    } finally {
      log.isReading = false
    }
  }

  /** The returned function unsubscribes. */
  subscribe(taskId: string, follower: LogFollower): () => void {
    const log = this.#logs.get(taskId) ?? {
      followers: new Set(),
      lastSeq: null,
      isReading: false,
      mustReadAgain: false,
    }
    log.followers.add(follower)
    this.#logs.set(taskId, log)
    return () => {
      log.followers.delete(follower)
      if (log.followers.size === 0 && this.#logs.get(taskId) === log) this.#logs.delete(taskId)
    }
  }
}

function deliverChunks(log: FollowedLog, chunks: readonly EventChunk[]): void {
  log.lastSeq = Math.max(log.lastSeq ?? 0, chunks.at(-1)?.last ?? 0)
  for (const follower of log.followers) follower.receive(chunks)
}
