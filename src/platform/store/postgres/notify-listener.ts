import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { resolveWithin } from '../errors.ts'
import { destroyConnection } from './driver/destroy-connection.ts'
import { CONNECT_TIMEOUT_MS, type DatabaseServers } from './primary-client.ts'
import { SELECT_DATABASE_TIME, type StoreClock } from './store-clock.ts'

export interface NotifyListenerOptions {
  servers: DatabaseServers
  /** The name of the session in the database. */
  sessionName: string
  pool: pg.Pool
  clock: StoreClock
  warn: (message: string, error: unknown) => void
  /** Called when a heartbeat got no response, so that the connections of the pool are likely dead too. */
  onTimeout: () => void
  /** How long after its last hint another replica counts as alive. */
  peerTimeoutMs: number
}

const CHANNEL = 'svc_change_hints'
const MAX_PAYLOAD_CHARS = 7_000
const RECONNECT_DELAY_MS = 500
const HEARTBEAT_MS = 2_000
const HEARTBEAT_TIMEOUT_MS = 3_000

/**
 * Sends change hints to the other replicas and receives theirs, by LISTEN and NOTIFY. Its heartbeat checks that the
 * database responds, because a network that drops all packets reports no error, and reads the database's clock.
 *
 * They are sent after the commit: NOTIFY inside a transaction takes a lock that all commits of the database
 * share. If a crash loses a hint, the other replicas find the change by polling. A replica without others sends
 * no topics; each heartbeat is a hint without a topic, so that replicas know of each other.
 */
export class NotifyListener {
  #topics = new Set<string>()
  #isSending = false
  #isClosed = false
  #client: pg.Client | null = null
  /** Until when another replica counts as alive. */
  #peersUntil: number
  /** Marks the hints of this replica, which it ignores. */
  readonly #origin = randomUUID()
  readonly #options: NotifyListenerOptions

  constructor(options: NotifyListenerOptions) {
    this.#options = options
    this.#peersUntil = performance.now() + options.peerTimeoutMs
  }

  publish(topics: string[]): void {
    if (performance.now() > this.#peersUntil) return
    for (const topic of topics) this.#topics.add(topic)
    if (!this.#isSending && !this.#isClosed) void this.#send()
  }

  async #send(): Promise<void> {
    this.#isSending = true
    await new Promise(setImmediate)
    while (this.#topics.size > 0 && !this.#isClosed) {
      const payload = `${this.#origin} ${takeTopics(this.#topics, MAX_PAYLOAD_CHARS)}`
      await this.#options.pool
        .query('select pg_notify($1, $2)', [CHANNEL, payload])
        .catch((error) => this.#options.warn('change hints not sent', error))
    }
    this.#isSending = false
  }

  /** Listens until `close`, and reconnects when the connection ends. */
  async listen(listener: (topic: string) => void): Promise<void> {
    let isReported = false
    while (!this.#isClosed) {
      const client = new this.#options.servers.Client({
        application_name: this.#options.sessionName,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      })
      this.#client = client
      try {
        await this.#listen(client, listener, () => {
          isReported = false
        })
      } catch (error) {
        // One warning for each outage, not for each attempt.
        if (!isReported && !this.#isClosed) this.#options.warn('the database does not respond', error)
        isReported = true
      } finally {
        destroyConnection(client)
      }
      await pause(RECONNECT_DELAY_MS)
    }
  }

  async #listen(client: pg.Client, listener: (topic: string) => void, onConnect: () => void): Promise<void> {
    client.on('notification', ({ payload }) => {
      const [origin, ...topics] = payload?.split(' ') ?? []
      if (origin === this.#origin) return
      this.#peersUntil = performance.now() + this.#options.peerTimeoutMs
      for (const topic of topics) listener(topic)
    })
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    // Another replica may have started while this one was not connected.
    this.#peersUntil = performance.now() + this.#options.peerTimeoutMs
    onConnect()
    while (!this.#isClosed) {
      await this.#checkHealth(client)
      await pause(HEARTBEAT_MS)
    }
  }

  async #checkHealth(client: pg.Client): Promise<void> {
    const sentAt = performance.now()
    const result = await resolveWithin(HEARTBEAT_TIMEOUT_MS, this.#sendHeartbeat(client))
    if (!result) {
      this.#options.onTimeout()
      throw new Error(`no response within ${HEARTBEAT_TIMEOUT_MS} ms`)
    }
    const ms = result.rows[0]?.ms
    if (ms !== undefined) this.#options.clock.sync(ms, sentAt, performance.now())
  }

  /** Tells the other replicas that this one is alive, and reads the time. */
  #sendHeartbeat(client: pg.Client): Promise<pg.QueryResult<{ ms: number }>> {
    return client.query(`${SELECT_DATABASE_TIME}, pg_notify($1, $2)`, [CHANNEL, this.#origin])
  }

  close(): void {
    this.#isClosed = true
    if (this.#client) destroyConnection(this.#client)
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** Moves topics out of the set until the payload is full. Topics contain no spaces. */
function takeTopics(topics: Set<string>, maxChars: number): string {
  let payload = ''
  for (const topic of topics) {
    if (payload.length + topic.length + 1 > maxChars) break
    payload = payload ? `${payload} ${topic}` : topic
    topics.delete(topic)
  }
  return payload
}
