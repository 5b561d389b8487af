import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { resolveWithin } from '../errors.ts'
import { type StoreClock, SELECT_DATABASE_TIME } from './store-clock.ts'

export interface NotifyListenerOptions {
  url: string
  pool: pg.Pool
  clock: StoreClock
  warn: (message: string, error: unknown) => void
  /** Told when the database has not answered for so long that no connection can be believed any more. */
  onTimeout: () => void
  /** For how long another replica is believed to be there after it was last heard. */
  peerTimeoutMs: number
}

const CHANNEL = 'svc_bells'
const MAX_PAYLOAD_CHARS = 7_000
const RECONNECT_DELAY_MS = 500
const CONNECT_TIMEOUT_MS = 5_000
const HEARTBEAT_MS = 2_000
const HEARTBEAT_TIMEOUT_MS = 3_000

/**
 * The connection that hears the bells of other replicas. Its pulse tells whether the database still answers, and what
 * time it is there: a network that swallows everything reports nothing by itself.
 *
 * Bells are told after the commit and outside of it: NOTIFY inside a transaction takes a lock that all commits of the
 * database share. What a crash swallows is found by polling. A replica that is alone tells nobody; each pulse is a bell
 * without a topic, so that others know of it.
 */
export class NotifyListener {
  #topics = new Set<string>()
  #sending = false
  #closed = false
  #client: pg.Client | null = null
  /** Until when there are others to tell. */
  #company: number
  /** Marks what this replica told, so that it does not hear itself. */
  readonly #origin = randomUUID()
  readonly #parts: NotifyListenerOptions

  constructor(parts: NotifyListenerOptions) {
    this.#parts = parts
    this.#company = performance.now() + parts.peerTimeoutMs
  }

  notify(topics: string[]): void {
    if (performance.now() > this.#company) return
    for (const topic of topics) this.#topics.add(topic)
    if (!this.#sending && !this.#closed) void this.#send()
  }

  async #send(): Promise<void> {
    this.#sending = true
    await new Promise(setImmediate)
    while (this.#topics.size > 0 && !this.#closed) {
      const payload = `${this.#origin} ${takeUpTo(this.#topics, MAX_PAYLOAD_CHARS)}`
      await this.#parts.pool
        .query('select pg_notify($1, $2)', [CHANNEL, payload])
        .catch((error) => this.#parts.warn('bells not told', error))
    }
    this.#sending = false
  }

  /** Listens until it is closed, and connects again whenever the connection ends. */
  async listen(listener: (topic: string) => void): Promise<void> {
    let heard = true
    while (!this.#closed) {
      const client = new pg.Client({ connectionString: this.#parts.url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
      this.#client = client
      try {
        await this.#listen(client, listener, () => {
          heard = true
        })
      } catch (error) {
        // Once an outage, not once an attempt.
        if (heard && !this.#closed) this.#parts.warn('the database does not answer', error)
        heard = false
      } finally {
        destroyConnection(client)
      }
      await pause(RECONNECT_DELAY_MS)
    }
  }

  async #listen(client: pg.Client, listener: (topic: string) => void, ready: () => void): Promise<void> {
    client.on('error', () => {})
    client.on('notification', ({ payload }) => {
      const [origin, ...topics] = payload?.split(' ') ?? []
      if (origin === this.#origin) return
      this.#company = performance.now() + this.#parts.peerTimeoutMs
      for (const topic of topics) listener(topic)
    })
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    // Whoever came meanwhile was not heard.
    this.#company = performance.now() + this.#parts.peerTimeoutMs
    ready()
    while (!this.#closed) {
      await this.#feelPulse(client)
      // Whether it got through, the next pulse tells.
      client.query('select pg_notify($1, $2)', [CHANNEL, this.#origin]).catch(() => {})
      await pause(HEARTBEAT_MS)
    }
  }

  async #feelPulse(client: pg.Client): Promise<void> {
    const asked = performance.now()
    const answer = await resolveWithin(HEARTBEAT_TIMEOUT_MS, client.query<{ ms: number }>(SELECT_DATABASE_TIME))
    if (!answer) {
      this.#parts.onTimeout()
      throw new Error(`no answer in ${HEARTBEAT_TIMEOUT_MS} ms`)
    }
    const ms = answer.rows[0]?.ms
    if (ms !== undefined) this.#parts.clock.sync(ms, asked, performance.now())
  }

  close(): void {
    this.#closed = true
    if (this.#client) destroyConnection(this.#client)
  }
}

/** Without a farewell: `end` would wait for a server that may not be there. */
export function destroyConnection(client: pg.Client | pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** Moves topics out of the set until the payload is full. Topics contain no blanks. */
function takeUpTo(topics: Set<string>, most: number): string {
  let payload = ''
  for (const topic of topics) {
    if (payload.length + topic.length + 1 > most) break
    payload = payload ? `${payload} ${topic}` : topic
    topics.delete(topic)
  }
  return payload
}
