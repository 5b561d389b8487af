import type { TranscriptEntry } from '../../../platform/contract/transcript.ts'
import { type Ctx, inDurableTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { appendEvents, RunEndedError } from '../../../work/events/append-events.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'
import type { CellKind } from '../cells/agent-cell.ts'

/** What an agent has written that is not stored yet. */
export interface UnwrittenLog {
  events: NewEvent[]
  entries: TranscriptEntry[]
}

/**
 * Writes the events of an agent to the log in batches, and the entries of its transcript with the events before them. The
 * first event waits a short time for others, and events that arrive during a commit join the next one: many events need
 * few commits, and a short run only the one that ends it.
 * While the database is unavailable the events wait and are then written in order.
 */
export class RunLog {
  #waiting: NewEvent[] = []
  #entries: TranscriptEntry[] = []
  /** How often something else than events and entries changed that must be stored. */
  #changes = 0
  #backlog = 0
  #writing: Promise<void> | null = null
  readonly #ctx: Ctx
  readonly #run: { taskId: string; epoch: number }
  readonly #saveEntries: SaveEntries
  readonly #delayMs: () => number
  /** Resolves with the cause when events can no longer be written: the run is over, or the database refuses them. */
  readonly failed: Promise<unknown>
  #fail: (error: unknown) => void = () => {}
  #endDelay: () => void = () => {}
  #closing = false

  /** `delayMs` returns how long the first event of a batch waits. */
  constructor(ctx: Ctx, run: { taskId: string; epoch: number }, saveEntries: SaveEntries, delayMs: () => number) {
    this.#ctx = ctx
    this.#run = run
    this.#saveEntries = saveEntries
    this.#delayMs = delayMs
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
    })
  }

  /** Characters that arrived since all events were last stored. */
  get backlog(): number {
    return this.#backlog
  }

  push(event: NewEvent, size: number): void {
    this.#waiting.push(event)
    this.#backlog += size
    this.#writing ??= this.#write()
  }

  record(entry: TranscriptEntry, size: number): void {
    this.#entries.push(entry)
    this.#backlog += size
    this.#writing ??= this.#write()
  }

  /** Calls `saveEntries` soon, in order with the events. */
  markChanged(): void {
    this.#changes++
    this.#writing ??= this.#write()
  }

  /** Resolves when all events so far are committed, including those in lines that arrived but are not read yet. */
  async flush(): Promise<void> {
    await new Promise(setImmediate)
    await this.#writeAll()
  }

  /** Stops writing and returns the rest; the transaction that ends the run writes it. */
  async close(): Promise<UnwrittenLog> {
    this.#closing = true
    await this.#writeAll()
    return { events: this.#waiting, entries: this.#entries }
  }

  async #writeAll(): Promise<void> {
    this.#endDelay()
    while (this.#writing) await this.#writing
  }

  async #write(): Promise<void> {
    try {
      await this.#delay()
      while (this.#waiting.length + this.#entries.length + this.#changes > 0 && !this.#closing) {
        const written = await inDurableTx(this.#ctx, (tx) => this.#writeBatch(tx))
        this.#waiting.splice(0, written.events)
        this.#entries.splice(0, written.entries)
        this.#changes -= written.changes
      }
    } catch (error) {
      this.#waiting = []
      this.#entries = []
      if (!(error instanceof RunEndedError))
        this.#ctx.world.log.error({ err: error, task: this.#run.taskId }, 'events lost')
      this.#fail(error)
    } finally {
      this.#backlog = 0
      this.#writing = null
    }
  }

  async #writeBatch(tx: Tx): Promise<{ events: number; entries: number; changes: number }> {
    const events = this.#waiting.slice(0, MAX_EVENTS_PER_COMMIT)
    await appendEvents(tx, this.#run, events)
    // An entry must not be stored before the events that came before it.
    const isLast = events.length === this.#waiting.length
    const entries = isLast ? [...this.#entries] : []
    const changes = isLast ? this.#changes : 0
    if (entries.length + changes > 0) await this.#saveEntries(tx, entries)
    return { events: events.length, entries: entries.length, changes }
  }

  /** Uses real time instead of the clock of the service, because the delay saves disk writes. */
  #delay(): Promise<void> {
    const ms = this.#delayMs()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#endDelay = () => {
        clearTimeout(timer)
        resolve()
      }
      // A timer takes at least one millisecond.
      if (ms < 0.5) setImmediate(this.#endDelay)
    })
  }
}

const MAX_EVENTS_PER_COMMIT = 1024

/** Stores entries of the transcript in the transaction that stores the events before them. */
export type SaveEntries = (tx: Tx, entries: TranscriptEntry[]) => Promise<void>

/**
 * How long an event may wait for others before a commit. The bundled harness writes in steps, and the next line is often
 * the last one, so its events wait 20 ms. Events of other programs wait half as long as a commit takes.
 */
export function logDelay({ store }: Pick<Ctx, 'store'>, cellKind: CellKind): () => number {
  return cellKind === 'custom' ? () => Math.min(store.commitMs() / 2, 4) : () => 20
}
