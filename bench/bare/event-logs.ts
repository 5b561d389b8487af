import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type BareEvent, type BareStore, now } from './store.ts'

interface Said {
  type: string
  data: unknown
}

/** The logs of the bare server: numbers in memory, each event committed before it is sent, frames joined per commit. */
export class BareEventLogs {
  readonly #store: BareStore
  readonly #waiting = new Map<string, Said[]>()
  readonly #heads = new Map<string, number>()
  readonly #followers = new Map<string, Set<Follower>>()

  constructor(store: BareStore) {
    this.#store = store
  }

  /** Events with whatever else belongs into the same commit. */
  async append(taskId: string, said: Said[], more = () => {}): Promise<void> {
    const events = await this.#store.commit(() => {
      more()
      return this.#write(taskId, said)
    })
    this.#publish(taskId, events)
  }

  /** One line of an agent; the lines of one turn are written and sent together. */
  push(taskId: string, said: Said): void {
    const waiting = this.#waiting.get(taskId)
    if (waiting) return void waiting.push(said)
    this.#waiting.set(taskId, [said])
    const writing = this.#store.commit(() => {
      const together = this.#waiting.get(taskId) ?? []
      this.#waiting.delete(taskId)
      return this.#write(taskId, together)
    })
    void writing.then((events) => this.#publish(taskId, events))
  }

  #write(taskId: string, said: readonly Said[]): BareEvent[] {
    const first = (this.#heads.get(taskId) ?? 0) + 1
    this.#heads.set(taskId, first + said.length - 1)
    const ts = now()
    const events = said.map(({ type, data }, i) => ({
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
    // Listens before it reads: what is committed meanwhile is read again instead of missed.
    const follower: Follower = { response, cursor: after, caughtUp: false, missed: false }
    const followers = this.#followers.get(taskId) ?? new Set()
    this.#followers.set(taskId, followers.add(follower))
    response.once('close', () => followers.delete(follower))
    do {
      follower.missed = false
      const rows = await this.#store.eventsAfter(taskId, follower.cursor, PAGE)
      if (rows.length === 0) continue
      follower.cursor = rows.at(-1)?.seq ?? follower.cursor
      follower.missed ||= rows.length === PAGE
      const taken = response.write(framesOf(rows))
      if (rows.at(-1)?.type === 'task.finished') return void response.end()
      if (!taken) await once(response, 'drain')
    } while (follower.missed)
    follower.caughtUp = true
  }

  #publish(taskId: string, events: BareEvent[]): void {
    const followers = this.#followers.get(taskId)
    if (!followers) return
    const bytes = framesOf(events)
    const last = events.at(-1)
    const finished = last?.type === 'task.finished'
    for (const follower of followers) {
      follower.missed = true
      if (!follower.caughtUp || (last?.seq ?? 0) <= follower.cursor) continue
      follower.response.write(bytes)
      if (finished) follower.response.end()
    }
    if (finished) this.#followers.delete(taskId)
  }
}

const PAGE = 500

interface Follower {
  response: ServerResponse
  cursor: number
  caughtUp: boolean
  /** Something was committed since it began to read. */
  missed: boolean
}

function framesOf(events: readonly BareEvent[]): Buffer {
  let text = ''
  for (const { task_id, seq, type, ts, data } of events) {
    const event = `{"id":${seq},"task_id":"${task_id}","seq":${seq},"type":"${type}","ts":"${ts}","data":${data}}`
    text += `id: ${seq}\nevent: ${type}\ndata: ${event}\n\n`
  }
  return Buffer.from(text)
}
