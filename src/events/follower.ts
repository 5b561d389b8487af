import type { Chunk, Seat, View } from '../ctx/tails.ts'
import { errorFrame, type Reader } from '../http/sse.ts'

/** A reader further behind than this is cut off and told to reconnect. */
const MOST_BEHIND = 5000

/**
 * One reader of a log. It is fed from pages of the log until it has caught up; from then on chunks go from the commit
 * straight to its socket, without a promise in between. While the socket is full they wait here.
 */
export class Follower implements Seat {
  /** The last event that was written to the reader. */
  cursor: number
  #waiting: Chunk[] = []
  #behind = 0
  #listening = false
  #woken = false
  #live = false
  /** Ends the present wait. */
  #goOn: (() => void) | null = null
  readonly #reader: Reader
  readonly #view: View | null

  constructor(reader: Reader, after: number, view: View | null) {
    this.#reader = reader
    this.cursor = after
    this.#view = view
    reader.onRoom = () => (this.#live ? this.#pass() : this.#goOn?.())
    reader.onGone = () => this.#goOn?.()
  }

  /** The stream is over, by whoever ended it. */
  get aborted(): boolean {
    return this.#reader.isGone
  }

  /** From now on chunks wait here. */
  listen(): void {
    this.#listening = true
  }

  /** Writes a page of the log. */
  show(chunk: Chunk): void {
    this.#reader.write(bytesFor(chunk, this.#view, 0))
    this.cursor = chunk.last
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
    if (this.#woken || !this.#listening || this.aborted) this.#goOn?.()
    else this.#pass()
    return waited
  }

  offer(chunk: Chunk): void {
    if (!this.#listening) return
    this.#waiting.push(chunk)
    this.#behind += chunk.frames.length
    if (this.#live) this.#pass()
    // The log is being read, and not soon: all this will be found there.
    else if (this.#behind > MOST_BEHIND) this.#ignore()
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
    this.#behind = 0
  }

  #pass(): void {
    while (!this.#reader.isFull) {
      const chunk = this.#waiting.shift()
      if (!chunk) return
      this.#behind -= chunk.frames.length
      if (chunk.last <= this.cursor) continue
      if (chunk.first > this.cursor + 1) return this.#goOn?.()
      this.#write(chunk)
    }
    if (this.#behind > MOST_BEHIND) this.#end(errorFrame('stream overflow: reconnect with Last-Event-ID'))
  }

  #write(chunk: Chunk): void {
    const bytes = bytesFor(chunk, this.#view, this.cursor)
    this.cursor = chunk.last
    if (chunk.finished) this.#end(bytes)
    else this.#reader.write(bytes)
  }

  #end(bytes: Buffer | string): void {
    this.#ignore()
    this.#reader.end(bytes)
    this.#goOn?.()
  }
}

function bytesFor(chunk: Chunk, view: View | null, cursor: number): Buffer | string {
  if (!view && chunk.first > cursor) return chunk.bytes
  return chunk.frames
    .filter((frame) => frame.seq > cursor)
    .map((frame) => (view ? view(frame) : frame.text))
    .join('')
}
