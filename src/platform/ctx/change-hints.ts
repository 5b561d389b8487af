import { type ChangeHint, type Topic, topicKey } from './topics.ts'

type Listener = (hint: ChangeHint) => void

/**
 * A change hint says that rows changed; the rows are the truth. Every subscriber also polls, so a lost hint costs a
 * little time and nothing else.
 */
export class ChangeHints {
  readonly #listeners = new Map<string, Set<Listener>>()

  publish(hint: ChangeHint): void {
    const listeners = this.#listeners.get(topicKey(hint))
    if (listeners) for (const listener of listeners) listener(hint)
  }

  /** Calls the listener for each hint of the topic until the returned function is called. */
  subscribe<T extends Topic>(
    topic: T,
    listener: (hint: Extract<ChangeHint, { topic: T['topic'] }>) => void,
  ): () => void {
    const key = topicKey(topic)
    const listeners = this.#listeners.get(key) ?? new Set()
    const isOfTopic = (hint: ChangeHint): hint is Extract<ChangeHint, { topic: T['topic'] }> =>
      hint.topic === topic.topic
    const onHint: Listener = (hint) => {
      if (isOfTopic(hint)) listener(hint)
    }
    this.#listeners.set(key, listeners.add(onHint))
    return () => {
      listeners.delete(onHint)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
    }
  }
}
