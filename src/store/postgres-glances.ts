import { isGone } from './away.ts'
import type { Question } from './postgres-line.ts'

interface Asked extends Question {
  resolve: (rows: unknown[]) => void
  reject: (error: unknown) => void
}

type Together = (questions: readonly Question[]) => Promise<unknown[][]>
type Alone = (text: string, values: readonly unknown[]) => Promise<unknown[]>

/** As many wait for each other at most. */
const MOST_TOGETHER = 32

/**
 * Small reads that are asked for in one turn of the event loop share a connection and a message: most of what each
 * costs is the way. When the database refuses one of them, each is asked again alone.
 */
export class Glances {
  #asked: Asked[] = []
  readonly #together: Together
  readonly #alone: Alone

  constructor(together: Together, alone: Alone) {
    this.#together = together
    this.#alone = alone
  }

  ask(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ text, values, resolve, reject })
      if (this.#asked.length === 1) setImmediate(() => this.#sendAll())
    })
  }

  #sendAll(): void {
    while (this.#asked.length > 0) void this.#send(this.#asked.splice(0, MOST_TOGETHER))
  }

  async #send(asked: Asked[]): Promise<void> {
    try {
      const answers = asked.length > 1 ? await this.#together(asked) : []
      asked.forEach((one, at) => this.#answer(one, answers[at]))
    } catch (error) {
      // One that is away would be waited for once more by each.
      for (const one of asked) {
        if (isGone(error)) one.reject(error)
        else this.#answer(one, undefined)
      }
    }
  }

  #answer({ text, values, resolve, reject }: Asked, rows: unknown[] | undefined): void {
    if (rows) resolve(rows)
    else this.#alone(text, values).then(resolve, reject)
  }
}
