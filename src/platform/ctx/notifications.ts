import { type Notification, type Topic, topicKey } from './topics.ts'

type Listener = (notification: Notification) => void

/**
 * A notification is a hint that rows changed; the rows are the truth. Every subscriber also polls, so a lost
 * notification costs a little time and nothing else.
 */
export class Notifications {
  readonly #listeners = new Map<string, Set<Listener>>()

  publish(notification: Notification): void {
    const listeners = this.#listeners.get(topicKey(notification))
    if (listeners) for (const listener of listeners) listener(notification)
  }

  /** Calls the listener at each notification of the topic until the returned function is called. */
  subscribe<T extends Topic>(
    topic: T,
    listener: (notification: Extract<Notification, { topic: T['topic'] }>) => void,
  ): () => void {
    const key = topicKey(topic)
    const listeners = this.#listeners.get(key) ?? new Set()
    const isOfTopic = (notification: Notification): notification is Extract<Notification, { topic: T['topic'] }> =>
      notification.topic === topic.topic
    const onNotification: Listener = (notification) => {
      if (isOfTopic(notification)) listener(notification)
    }
    this.#listeners.set(key, listeners.add(onNotification))
    return () => {
      listeners.delete(onNotification)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
    }
  }
}
