import { isUnreachable } from '../errors.ts'
import type { ReadRequest } from './connection.ts'

interface WaitingRead extends ReadRequest {
  resolve: (rows: unknown[]) => void
  reject: (error: unknown) => void
}

type ReadBatch = (reads: readonly ReadRequest[]) => Promise<unknown[][]>
type ReadAlone = (text: string, values: readonly unknown[]) => Promise<unknown[]>

/** The first read of a batch waits for the last. */
const MAX_BATCH = 32

/**
 * Sends small reads that are requested in one turn of the event loop over one connection, in one message. If the database
 * refuses one of them, each is sent again alone. `driver/README.md` has the measurement.
 */
export class ReadBatcher {
  #waiting: WaitingRead[] = []
  readonly #readBatch: ReadBatch
  readonly #readAlone: ReadAlone

  constructor(readBatch: ReadBatch, readAlone: ReadAlone) {
    this.#readBatch = readBatch
    this.#readAlone = readAlone
  }

  read(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, values, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#sendAll())
    })
  }

  #sendAll(): void {
    while (this.#waiting.length > 0) void this.#send(this.#waiting.splice(0, MAX_BATCH))
  }

  async #send(reads: WaitingRead[]): Promise<void> {
    try {
      const results = reads.length > 1 ? await this.#readBatch(reads) : []
      reads.forEach((read, n) => this.#settle(read, results[n]))
    } catch (error) {
      for (const read of reads) {
        // Without a connection, each read alone would wait for the same timeout again.
        if (isUnreachable(error)) read.reject(error)
        else this.#settle(read, undefined)
      }
    }
  }

  #settle({ text, values, resolve, reject }: WaitingRead, rows: unknown[] | undefined): void {
    if (rows) resolve(rows)
    else this.#readAlone(text, values).then(resolve, reject)
  }
}
