import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type BareEvent, type BareStore, now } from './store.ts'

interface NewEvent {
  type: string
  data: unknown
}

/** The logs of the baseline server. Event numbers are in memory; each event is committed before it is sent. */
export class BareEventLogs {
  readonly #store: BareStore
  readonly #waiting = new Map<string, NewEvent[]>()
  readonly #heads = new Map<string, number>()
  readonly #followers = new Map<string, Set<Follower>>()

  constructor(store: BareStore) {
    this.#store = store
  }

  /** Commits the events together with other writes. */
  async append(taskId: string, newEvents: NewEvent[], otherWrites = () => {}): Promise<void> {
    const events = await this.#store.commit(() => {
      otherWrites()
      return this.#write(taskId, newEvents)
    })
    this.#publish(taskId, events)
  }

  /** Adds an event. Events that are added before the next commit are written and sent together. */
  push(taskId: string, event: NewEvent): void {
    const waiting = this.#waiting.get(taskId)
    if (waiting) return void waiting.push(event)
    this.#waiting.set(taskId, [event])
    const writing = this.#store.commit(() => {
      const batch = this.#waiting.get(taskId) ?? []
      this.#waiting.delete(taskId)
      return this.#write(taskId, batch)
    })
    void writing.then((events) => this.#publish(taskId, events))
  }

  #write(taskId: string, newEvents: readonly NewEvent[]): BareEvent[] {
    const first = (this.#heads.get(taskId) ?? 0) + 1
    this.#heads.set(taskId, first + newEvents.length - 1)
    const ts = now()
    const events = newEvents.map(({ type, data }, i) => ({
      task_id: taskId,
      seq: first + i,
      type,
      ts,
      data: JSON.stringify(data),
    }))
    this.#store.insertEvents(events)
    return events
  }

  async follow(taskId: string, after: number, response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
    response.flushHeaders()
    // Subscribes before it reads, so that no event that is committed meanwhile is missed.
    const follower: Follower = { response, cursor: after, caughtUp: false, mustReadAgain: false }
    const followers = this.#followers.get(taskId) ?? new Set()
    this.#followers.set(taskId, followers.add(follower))
    response.once('close', () => followers.delete(follower))
    do {
      follower.mustReadAgain = false
      const rows = await this.#store.eventsAfter(taskId, follower.cursor, PAGE_SIZE)
      if (rows.length === 0) continue
      follower.cursor = rows.at(-1)?.seq ?? follower.cursor
      follower.mustReadAgain ||= rows.length === PAGE_SIZE
      const isAccepted = response.write(toFrames(rows))
      if (rows.at(-1)?.type === 'task.finished') return void response.end()
      if (!isAccepted) await once(response, 'drain')
    } while (follower.mustReadAgain)
    follower.caughtUp = true
  }

  #publish(taskId: string, events: BareEvent[]): void {
    const followers = this.#followers.get(taskId)
    if (!followers) return
    const bytes = toFrames(events)
    const last = events.at(-1)
    const finished = last?.type === 'task.finished'
    for (const follower of followers) {
      follower.mustReadAgain = true
      if (!follower.caughtUp || (last?.seq ?? 0) <= follower.cursor) continue
      follower.response.write(bytes)
      if (finished) follower.response.end()
    }
    if (finished) this.#followers.delete(taskId)
  }
}

const PAGE_SIZE = 500

interface Follower {
  response: ServerResponse
  cursor: number
  caughtUp: boolean
  /** Whether events were committed since the last read. */
  mustReadAgain: boolean
}

function toFrames(events: readonly BareEvent[]): Buffer {
  let text = ''
  for (const { task_id, seq, type, ts, data } of events) {
    const event = `{"id":${seq},"task_id":"${task_id}","seq":${seq},"type":"${type}","ts":"${ts}","data":${data}}`
    text += `id: ${seq}\nevent: ${type}\ndata: ${event}\n\n`
  }
  return Buffer.from(text)
}
