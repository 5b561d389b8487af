import { type Ctx, inTx } from '../ctx/ctx.ts'
import { append, RunOver } from '../events/append.ts'
import type { NewEvent } from '../events/types.ts'

/**
 * What an agent says, on its way into the log. Lines that arrive while a commit is under way join the next one, so a
 * chatty agent costs a few transactions and not one a line.
 */
export class RunLog {
  #waiting: NewEvent[] = []
  #backlog = 0
  #writing: Promise<void> | null = null
  readonly #ctx: Ctx
  readonly #run: { taskId: string; epoch: number }
  /** Resolves with the cause when nothing more can be written: the run is over, or the store fails. */
  readonly lost: Promise<unknown>
  #lose: (error: unknown) => void = () => {}

  constructor(ctx: Ctx, run: { taskId: string; epoch: number }) {
    this.#ctx = ctx
    this.#run = run
    this.lost = new Promise((resolve) => {
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
    while (this.#writing) await this.#writing
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const written = await inTx(this.#ctx, async (tx) => {
          const events = this.#waiting.slice(0, MOST_TOGETHER)
          await append(tx, this.#run, events)
          return events.length
        })
        this.#waiting.splice(0, written)
      }
    } catch (error) {
      this.#waiting = []
      if (!(error instanceof RunOver)) this.#ctx.world.log.error({ err: error, task: this.#run.taskId }, 'events lost')
      this.#lose(error)
    } finally {
      this.#backlog = 0
      this.#writing = null
    }
  }
}

const MOST_TOGETHER = 1024
