/**
 * A bell is a hint that rows changed; the rows are the truth. Whoever waits for one also polls, so a lost ring costs
 * a little time and nothing else. Topics: `tasks` (something is queued), `log:<task>`, `approval:<id>`,
 * `task:<id>` (it has ended), `project:<id>`, `key:<id>`, `member:<id>`, `session:<hash>` and `portal:<client>` (they may
 * look no more), `streams` (those that are open look whether they may be), `moved` (something has a new status by this
 * replica's doing; the last two are not told to others). Behind a question mark a topic may carry a word on what changed;
 * listeners get it, and are found by what stands before.
 */
export class Notifications {
  readonly #listeners = new Map<string, Set<(topic: string) => void>>()

  publish(topic: string): void {
    const word = topic.indexOf('?')
    const listeners = this.#listeners.get(word === -1 ? topic : topic.slice(0, word))
    if (listeners) for (const listener of listeners) listener(topic)
  }

  /** Calls the listener at each ring until the returned function is called. */
  subscribe(topic: string, listener: (topic: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic)
    }
  }
}
