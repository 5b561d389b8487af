import type { EventChunk, LogFollower, FrameView } from '../ctx/log-followers.ts'
import { sseErrorFrame, type SseClient } from '../http/sse.ts'

/** A reader further behind than this is cut off and told to reconnect. */
const MAX_EVENTS_BEHIND = 5000
const OVERFLOW_FRAME = sseErrorFrame('stream overflow: reconnect with Last-Event-ID')

/**
 * In bytes. A reader that chunks of more than this wait for finds them in the log instead, when it reads again. Room for
 * most bursts: all who follow share their bytes, and would each read the log for itself.
 */
const MAX_WAITING_BYTES = 4 * 1024 * 1024

/**
 * One reader of a log. It is fed from pages of the log until it has caught up; from then on chunks go from the commit
 * straight to its socket, without a promise in between. While the socket is full they wait here.
 */
export class StreamFollower implements LogFollower {
  /** The last event that was written to the reader. */
  cursor: number
  #waiting: EventChunk[] = []
  /** How many bytes wait, and the last event of all that were offered, kept or not. */
  #kept = 0
  #newest = 0
  #listening = false
  #woken = false
  #live = false
  #caughtUp = false
  /** Ends the present wait. */
  #goOn: (() => void) | null = null
  readonly #reader: SseClient
  readonly #view: FrameView | null

  constructor(reader: SseClient, after: number, view: FrameView | null) {
    this.#reader = reader
    this.cursor = after
    this.#view = view
    reader.onDrain = () => (this.#live ? this.#pass() : this.#goOn?.())
    reader.onDisconnect = () => this.#goOn?.()
  }

  /** The stream is over, by whoever ended it. */
  get aborted(): boolean {
    return this.#reader.isDisconnected
  }

  /** From now on chunks wait here. */
  listen(): void {
    this.#listening = true
  }

  show(chunk: EventChunk): void {
    this.#reader.write(this.#take(chunk))
  }

  /** There is more in the log, and what was committed meanwhile will be found there too. Resolves when there is room. */
  async readOn(): Promise<void> {
    this.#ignore()
    if (this.#reader.isFull) await this.#wait()
  }

  /** Passes on what is committed; resolves when the log must be asked again or the stream is over. */
  live(): Promise<void> {
    const waited = this.#wait()
    this.#live = true
    this.#caughtUp = true
    if (this.#woken || !this.#listening || this.aborted) this.#goOn?.()
    else this.#pass()
    return waited
  }

  receive(chunks: readonly EventChunk[]): void {
    const hadRoom = this.#live && !this.#reader.isFull
    for (const chunk of chunks) {
      this.#newest = Math.max(this.#newest, chunk.last)
      if (!this.#listening) continue
      this.#waiting.push(chunk)
      this.#kept += chunk.bytes.length
    }
    if (this.#live) this.#pass()
    // A burst is no fault of a reader that had room for its beginning.
    if (!hadRoom && this.#isLate()) this.#end(OVERFLOW_FRAME)
    else if (this.#kept > MAX_WAITING_BYTES) this.#ignore()
  }

  wake(): void {
    this.#woken = true
    if (this.#live) this.#goOn?.()
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = () => {
        this.#goOn = null
        this.#live = false
        this.#woken = false
        resolve()
      }
    })
  }

  #ignore(): void {
    this.#listening = false
    this.#waiting = []
    this.#kept = 0
  }

  #pass(): void {
    while (!this.#reader.isFull) {
      const chunk = this.#waiting[0]
      if (!chunk && this.#newest <= this.cursor) return
      // What comes next was not kept, or never came here.
      if (!chunk || chunk.first > this.cursor + 1) return this.#readAgain()
      this.#waiting.shift()
      this.#kept -= chunk.bytes.length
      if (chunk.last <= this.cursor) continue
      // The last events and the end of the stream are one write.
      if (chunk.finished) return this.#end(this.#take(chunk))
      this.show(chunk)
    }
  }

  #readAgain(): void {
    this.#ignore()
    this.#goOn?.()
  }

  /** It had caught up and stopped reading; whoever never had is on the way through the log. */
  #isLate(): boolean {
    return this.#caughtUp && this.#reader.isFull && this.#newest - this.cursor > MAX_EVENTS_BEHIND
  }

  /** What of a chunk is new to the reader, which has it from now on. */
  #take(chunk: EventChunk): Buffer | string {
    const bytes = newBytesOf(chunk, this.#view, this.cursor)
    this.cursor = chunk.last
    return bytes
  }

  #end(bytes: Buffer | string): void {
    this.#ignore()
    this.#reader.end(bytes)
    this.#goOn?.()
  }
}

function newBytesOf(chunk: EventChunk, view: FrameView | null, cursor: number): Buffer | string {
  if (!view && chunk.first > cursor) return chunk.bytes
  return chunk.frames
    .filter((frame) => frame.seq > cursor)
    .map((frame) => (view ? view(frame) : frame.text))
    .join('')
}
