import type { EventChunk, FrameView, LogFollower } from '../../platform/ctx/log-followers.ts'
import { type SseClient, sseErrorFrame } from '../../platform/http/sse.ts'

/** A client that is further behind is disconnected and must reconnect. */
const MAX_EVENTS_BEHIND = 5000
const OVERFLOW_FRAME = sseErrorFrame('stream overflow: reconnect with Last-Event-ID')

/**
 * When more bytes than this wait for a client, it reads them from the log later. Large enough for most bursts, because
 * waiting chunks are shared by all followers, but each follower reads the log for itself.
 */
const MAX_WAITING_BYTES = 4 * 1024 * 1024

/**
 * One client that follows a log. It gets pages of the log until it has caught up; from then on chunks go from the commit
 * to its socket without a promise in between. While the socket is full they wait here.
 */
export class StreamFollower implements LogFollower {
  /** The last event that was sent to the client. */
  cursor: number
  #waiting: EventChunk[] = []
  #waitingBytes = 0
  /** The last event that was received, also if it was not collected. */
  #newest = 0
  #collecting = false
  #woken = false
  #live = false
  #caughtUp = false
  /** Resolves the current wait. */
  #resume: (() => void) | null = null
  readonly #client: SseClient
  readonly #view: FrameView | null

  constructor(client: SseClient, after: number, view: FrameView | null) {
    this.#client = client
    this.cursor = after
    this.#view = view
    client.onDrain = () => (this.#live ? this.#sendWaiting() : this.#resume?.())
    client.onDisconnect = () => this.#resume?.()
  }

  /** True once the stream has ended on either side. */
  get aborted(): boolean {
    return this.#client.isDisconnected
  }

  /** Keeps received chunks from now on. */
  collect(): void {
    this.#collecting = true
  }

  send(chunk: EventChunk): void {
    this.#client.write(this.#takeNewBytes(chunk))
  }

  /** Drops collected chunks, because the log has more and contains them too. Resolves when the socket has room. */
  async waitToReadOn(): Promise<void> {
    this.#stopCollecting()
    if (this.#client.isFull) await this.#wait()
  }

  /** Sends chunks as they are committed. Resolves when the log must be read again or the stream has ended. */
  sendLive(): Promise<void> {
    const resumed = this.#wait()
    this.#live = true
    this.#caughtUp = true
    if (this.#woken || !this.#collecting || this.aborted) this.#resume?.()
    else this.#sendWaiting()
    return resumed
  }

  receive(chunks: readonly EventChunk[]): void {
    const hadRoom = this.#live && !this.#client.isFull
    for (const chunk of chunks) {
      this.#newest = Math.max(this.#newest, chunk.last)
      if (!this.#collecting) continue
      this.#waiting.push(chunk)
      this.#waitingBytes += chunk.bytes.length
    }
    if (this.#live) this.#sendWaiting()
    // A burst does not disconnect a client that had room when it started.
    if (!hadRoom && this.#isTooFarBehind()) this.#end(OVERFLOW_FRAME)
    else if (this.#waitingBytes > MAX_WAITING_BYTES) this.#stopCollecting()
  }

  wake(): void {
    this.#woken = true
    if (this.#live) this.#resume?.()
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = null
        this.#live = false
        this.#woken = false
        resolve()
      }
    })
  }

  #stopCollecting(): void {
    this.#collecting = false
    this.#waiting = []
    this.#waitingBytes = 0
  }

  #sendWaiting(): void {
    while (!this.#client.isFull) {
      const chunk = this.#waiting[0]
      if (!chunk && this.#newest <= this.cursor) return
      // The next event was not collected or was never received.
      if (!chunk || chunk.first > this.cursor + 1) return this.#readAgain()
      this.#waiting.shift()
      this.#waitingBytes -= chunk.bytes.length
      if (chunk.last <= this.cursor) continue
      // Sends the last events and the end of the stream in one write.
      if (chunk.finished) return this.#end(this.#takeNewBytes(chunk))
      this.send(chunk)
    }
  }

  #readAgain(): void {
    this.#stopCollecting()
    this.#resume?.()
  }

  /** Only after it has caught up: before that, the client is still reading the log. */
  #isTooFarBehind(): boolean {
    return this.#caughtUp && this.#client.isFull && this.#newest - this.cursor > MAX_EVENTS_BEHIND
  }

  /** The part of a chunk that is new to the client; moves the cursor. */
  #takeNewBytes(chunk: EventChunk): Buffer | string {
    const bytes = newBytesOf(chunk, this.#view, this.cursor)
    this.cursor = chunk.last
    return bytes
  }

  #end(bytes: Buffer | string): void {
    this.#stopCollecting()
    this.#client.end(bytes)
    this.#resume?.()
  }
}

function newBytesOf(chunk: EventChunk, view: FrameView | null, cursor: number): Buffer | string {
  if (!view && chunk.first > cursor) return chunk.bytes
  return chunk.frames
    .filter((frame) => frame.seq > cursor)
    .map((frame) => (view ? view(frame) : frame.text))
    .join('')
}
