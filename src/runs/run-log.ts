import { type Ctx, inDurableTx } from '../ctx/ctx.ts'
import { appendEvents, RunEndedError } from '../events/append-events.ts'
import type { NewEvent } from '../events/event-types.ts'

/**
 * Writes the events of an agent to the log in batches. The first event waits a short time for others, and events that
 * arrive during a commit join the next one: many events need few commits, and a short run only the one that ends it.
 * While the database is unavailable the events wait and are then written in order.
 */
export class RunLog {
  #waiting: NewEvent[] = []
  #backlog = 0
  #writing: Promise<void> | null = null
  readonly #ctx: Ctx
  readonly #run: { taskId: string; epoch: number }
  readonly #delayMs: () => number
  /** Resolves with the cause when events can no longer be written: the run is over, or the database refuses them. */
  readonly failed: Promise<unknown>
  #fail: (error: unknown) => void = () => {}
  #endDelay: () => void = () => {}
  #closing = false

  /** `delayMs` returns how long the first event of a batch waits. */
  constructor(ctx: Ctx, run: { taskId: string; epoch: number }, delayMs: () => number) {
    this.#ctx = ctx
    this.#run = run
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

  /** Resolves when all events so far are committed. */
  async flush(): Promise<void> {
    this.#endDelay()
    while (this.#writing) await this.#writing
  }

  /** Stops writing and returns the remaining events; the transaction that ends the run writes them. */
  async close(): Promise<NewEvent[]> {
    this.#closing = true
    await this.flush()
    return this.#waiting
  }

  async #write(): Promise<void> {
    try {
      await this.#delay()
      while (this.#waiting.length > 0 && !this.#closing) {
        const written = await inDurableTx(this.#ctx, async (tx) => {
          const events = this.#waiting.slice(0, MAX_EVENTS_PER_COMMIT)
          await appendEvents(tx, this.#run, events)
          return events.length
        })
        this.#waiting.splice(0, written)
      }
    } catch (error) {
      this.#waiting = []
      if (!(error instanceof RunEndedError))
        this.#ctx.world.log.error({ err: error, task: this.#run.taskId }, 'events lost')
      this.#fail(error)
    } finally {
      this.#backlog = 0
      this.#writing = null
    }
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
