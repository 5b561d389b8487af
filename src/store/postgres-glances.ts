import type { Question } from './postgres-line.ts'

interface Asked extends Question {
  resolve: (rows: unknown[]) => void
  reject: (error: unknown) => void
}

type Together = (questions: readonly Question[]) => Promise<unknown[][]>
type Alone = (text: string, values: readonly unknown[]) => Promise<unknown[]>

/**
 * Small reads that are asked for in one turn of the event loop share a connection and a message: most of what each
 * costs is the way. When one of them fails, each is asked again alone.
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
      if (this.#asked.length === 1) setImmediate(() => void this.#send())
    })
  }

  async #send(): Promise<void> {
    const asked = this.#asked
    this.#asked = []
    const answers = asked.length > 1 ? await this.#together(asked).catch(() => null) : null
    asked.forEach(({ text, values, resolve, reject }, at) => {
      const rows = answers?.[at]
      if (rows) resolve(rows)
      else this.#alone(text, values).then(resolve, reject)
    })
  }
}
