import { isUnreachable } from '../errors.ts'
import type { ReadRequest } from './connection.ts'

interface WaitingRead extends ReadRequest {
  resolve: (rows: unknown[]) => void
  reject: (error: unknown) => void
}

type ReadTogether = (questions: readonly ReadRequest[]) => Promise<unknown[][]>
type ReadAlone = (text: string, values: readonly unknown[]) => Promise<unknown[]>

/** As many wait for each other at most. */
const MAX_BATCH = 32

/**
 * Small reads that are asked for in one turn of the event loop share a connection and a message: most of what each
 * costs is the way. When the database refuses one of them, each is asked again alone.
 */
export class ReadBatcher {
  #asked: WaitingRead[] = []
  readonly #together: ReadTogether
  readonly #alone: ReadAlone

  constructor(together: ReadTogether, alone: ReadAlone) {
    this.#together = together
    this.#alone = alone
  }

  read(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ text, values, resolve, reject })
      if (this.#asked.length === 1) setImmediate(() => this.#sendAll())
    })
  }

  #sendAll(): void {
    while (this.#asked.length > 0) void this.#send(this.#asked.splice(0, MAX_BATCH))
  }

  async #send(asked: WaitingRead[]): Promise<void> {
    try {
      const answers = asked.length > 1 ? await this.#together(asked) : []
      asked.forEach((one, at) => this.#answer(one, answers[at]))
    } catch (error) {
      // One that is away would be waited for once more by each.
      for (const one of asked) {
        if (isUnreachable(error)) one.reject(error)
        else this.#answer(one, undefined)
      }
    }
  }

  #answer({ text, values, resolve, reject }: WaitingRead, rows: unknown[] | undefined): void {
    if (rows) resolve(rows)
    else this.#alone(text, values).then(resolve, reject)
  }
}
