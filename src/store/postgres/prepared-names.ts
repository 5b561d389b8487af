/** How many have a name at most, for the sake of the server's memory, and how many are watched whether they come again. */
const MAX_NAMES = 300
const MIN_USES = 3

/**
 * The names of statements that come again and again. What has a name is parsed and planned by PostgreSQL once a
 * connection instead of every time, which takes longer than to run it.
 */
export class PreparedNames {
  readonly #names = new Map<string, string>()
  /** How often those without a name have come, the one that came last at the end: queries put together for one call go. */
  readonly #times = new Map<string, number>()
  #named = 0

  /** Undefined: it did not come often enough yet. */
  nameOf(text: string): string | undefined {
    return this.#names.get(text) ?? this.#count(text)
  }

  #count(text: string): string | undefined {
    if (this.#names.size >= MAX_NAMES) return undefined
    const times = (this.#times.get(text) ?? 0) + 1
    this.#times.delete(text)
    if (times > MIN_USES) return this.#name(text)
    this.#times.set(text, times)
    const [oldest] = this.#times.keys()
    if (this.#times.size > MAX_NAMES && oldest !== undefined) this.#times.delete(oldest)
    return undefined
  }

  #name(text: string): string {
    const name = `kept_${this.#named++}`
    this.#names.set(text, name)
    return name
  }

  /** A newer replica has changed the tables: the plans that were made before fit no more, on no connection. */
  clear(): void {
    this.#names.clear()
    this.#times.clear()
  }
}
