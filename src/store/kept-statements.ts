/** The texts that are kept at most; queries that are put together for one call shall not fill the server's memory. */
const MOST_KEPT = 300
const OFTEN = 3

/**
 * The names of statements that come again and again. What has a name is parsed and planned by PostgreSQL once a
 * connection instead of every time, which takes longer than to run it.
 */
export class KeptStatements {
  readonly #known = new Map<string, { name: string; times: number }>()
  #named = 0

  /** Undefined: it did not come often enough yet. */
  nameOf(text: string): string | undefined {
    const known = this.#known.get(text)
    if (known) return ++known.times > OFTEN ? known.name : undefined
    if (this.#known.size < MOST_KEPT) this.#known.set(text, { name: `kept_${this.#named++}`, times: 1 })
    return undefined
  }

  /** A newer replica has changed the tables: the plans that were made before fit no more, on no connection. */
  forget(): void {
    this.#known.clear()
  }
}
