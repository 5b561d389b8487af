import { type Ctx, inDurableTx } from '../ctx/ctx.ts'
import { appendEvents, RunEndedError } from '../events/append-events.ts'
import type { NewEvent } from '../events/event-types.ts'

/**
 * What an agent says, on its way into the log. The first line waits a little for company, and lines that arrive while a
 * commit is under way join the next: a chatty agent costs few commits, and a short run none but the one that ends it.
 * While the store is away the lines wait, and are written in their order when it is back.
 */
export class RunLog {
  #waiting: NewEvent[] = []
  #backlog = 0
  #writing: Promise<void> | null = null
  readonly #ctx: Ctx
  readonly #run: { taskId: string; epoch: number }
  readonly #patience: () => number
  /** Resolves with the cause when nothing more can be written: the run is over, or the store refuses. */
  readonly failed: Promise<unknown>
  #lose: (error: unknown) => void = () => {}
  #hurry: () => void = () => {}
  #closing = false

  /** `patience`: how long a line may wait, in milliseconds. */
  constructor(ctx: Ctx, run: { taskId: string; epoch: number }, patience: () => number) {
    this.#ctx = ctx
    this.#run = run
    this.#patience = patience
    this.failed = new Promise((resolve) => {
      this.#lose = resolve
    })
  }

  /** How much has come since the log last was up to date. */
  get backlog(): number {
    return this.#backlog
  }

  push(event: NewEvent, size: number): void {
    this.#waiting.push(event)
    this.#backlog += size
    this.#writing ??= this.#write()
  }

  /** Resolves when everything said so far is committed. */
  async flush(): Promise<void> {
    this.#hurry()
    while (this.#writing) await this.#writing
  }

  /** Writes no more, and hands over what is left: the transaction that ends the run writes it. */
  async close(): Promise<NewEvent[]> {
    this.#closing = true
    await this.flush()
    return this.#waiting
  }

  async #write(): Promise<void> {
    try {
      await this.#company()
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
      this.#lose(error)
    } finally {
      this.#backlog = 0
      this.#writing = null
    }
  }

  /** Real time, not the service's clock: it is the disk that it spares. */
  #company(): Promise<void> {
    const ms = this.#patience()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#hurry = () => {
        clearTimeout(timer)
        resolve()
      }
      // A timer waits a millisecond at least.
      if (ms < 0.5) setImmediate(this.#hurry)
    })
  }
}

const MAX_EVENTS_PER_COMMIT = 1024
