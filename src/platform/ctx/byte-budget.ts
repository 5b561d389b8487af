/**
 * How much of the free memory one owner may use. With 256 MiB, one owner can join a body of 50 MiB while another
 * one holds or joins its own.
 */
const SHARE_OF_FREE = 2

/**
 * Limits the bytes that calls without a verified signature keep in memory at the same time. Each owner may use at most
 * twice the memory that is free, so some memory stays free for the next owner, however many there are.
 */
export class ByteBudget {
  readonly #max: number
  #used = 0
  readonly #usedBy = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** A call whose bytes count against each of its owners, such as its channel and its address. */
  open(...all: string[]): ByteReservation {
    let owners = all
    let bytes = 0
    return {
      add: (more) => {
        if (more > 0 && !this.#fits(owners, more)) return false
        this.#count(owners, more)
        bytes += more
        return true
      },
      keepFor: (owner) => {
        this.#count(owners, -bytes)
        owners = [owner]
        this.#count(owners, bytes)
      },
      release: () => {
        this.#count(owners, -bytes)
        bytes = 0
      },
    }
  }

  #fits(owners: readonly string[], bytes: number): boolean {
    const free = this.#max - this.#used - bytes
    return owners.every((owner) => (this.#usedBy.get(owner) ?? 0) + bytes <= SHARE_OF_FREE * free)
  }

  #count(owners: readonly string[], bytes: number): void {
    this.#used += bytes
    for (const owner of owners) {
      const used = (this.#usedBy.get(owner) ?? 0) + bytes
      if (used > 0) this.#usedBy.set(owner, used)
      else this.#usedBy.delete(owner)
    }
  }
}

export interface ByteReservation {
  /** Reserves more bytes, or gives some back if the number is negative; false if they do not fit now. */
  add(bytes: number): boolean
  /** The bytes count against one of the owners only. */
  keepFor(owner: string): void
  release(): void
}
