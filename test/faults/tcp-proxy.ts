import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { createDatabase, dropDatabase } from '../postgres.ts'

/** Creates a database for one test, and a proxy in front of it. */
export async function createProxiedDatabase(): Promise<{ proxy: TcpProxy; database: string }> {
  const database = await createDatabase()
  onTestFinished(() => dropDatabase(database))
  const proxy = await TcpProxy.openFor(database)
  onTestFinished(() => proxy.close())
  return { proxy, database }
}

/**
 * A proxy between the service and PostgreSQL that injects network faults: delays, cut connections, black holes and
 * half-open connections.
 */
export class TcpProxy {
  /** Delay of every chunk, in both directions. */
  latencyMs = 0
  #state: 'open' | 'refused' | 'black hole' = 'open'
  #trigger: CutTrigger | null = null
  readonly #pairs = new Set<ProxiedConnection>()
  readonly #server: Server
  readonly #upstream: NetConnectOpts
  /** The database's address through this proxy. */
  readonly url: string

  private constructor(server: Server, databaseUrl: string) {
    this.#server = server
    this.#upstream = upstreamAddress(databaseUrl)
    this.url = proxiedUrl(server, databaseUrl)
    server.on('connection', (client) => this.#connectPair(client))
  }

  /** The caller must call `close`. */
  static async openFor(databaseUrl: string): Promise<TcpProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, databaseUrl)
  }

  /** Ends every connection on both sides and refuses new ones, until `heal`. */
  cut(): void {
    this.#state = 'refused'
    this.#closeAll()
  }

  /** Drops all data in both directions without closing a connection; new connections get no response. Until `heal`. */
  blackHole(): void {
    this.#state = 'black hole'
  }

  /** Closes the connections to the database and leaves those to the service open; new connections work. */
  halfOpen(): void {
    for (const pair of this.#pairs) {
      pair.muted = true
      pair.server.destroy()
    }
  }

  /**
   * Cuts the next connection that sends `text`: before the database gets it, or after the database has responded and
   * before the service gets the response. With `first`, the connection must have sent that text before. Resolves after
   * the cut.
   */
  cutAt(text: string, moment: 'before' | 'after', first = ''): Promise<void> {
    for (const pair of this.#pairs) pair.armed = first === ''
    return new Promise((resolve) => {
      this.#trigger = { text, moment, first, resolve }
    })
  }

  /** New connections work again. Connections that met a cut or a black hole stay lost, as in a real network. */
  heal(): void {
    if (this.#state === 'black hole') for (const pair of this.#pairs) pair.muted = true
    this.#state = 'open'
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#closeAll()
    await once(this.#server, 'close')
  }

  #connectPair(client: Socket): void {
    if (this.#state === 'refused') return void client.resetAndDestroy()
    const pair: ProxiedConnection = {
      client,
      server: connect(this.#upstream),
      muted: false,
      armed: !this.#trigger?.first,
      cutOnResponse: null,
    }
    this.#pairs.add(pair)
    client.setNoDelay()
    client.on('data', (chunk) => this.#forwardRequest(pair, chunk))
    pair.server.on('data', (chunk) => this.#forwardResponse(pair, chunk))
    for (const side of [client, pair.server]) side.on('error', () => {})
    client.on('close', () => this.#closePair(pair))
    pair.server.on('close', () => pair.muted || this.#state === 'black hole' || this.#closePair(pair))
  }

  #forwardRequest(pair: ProxiedConnection, chunk: Buffer): void {
    const trigger = this.#trigger
    if (trigger?.first && chunk.includes(trigger.first)) pair.armed = true
    if (trigger && pair.armed && chunk.includes(trigger.text)) {
      this.#trigger = null
      if (trigger.moment === 'before') return this.#triggerCut(pair, trigger)
      pair.cutOnResponse = trigger
    }
    this.#deliver(pair, pair.server, chunk)
  }

  #forwardResponse(pair: ProxiedConnection, chunk: Buffer): void {
    if (pair.cutOnResponse) return this.#triggerCut(pair, pair.cutOnResponse)
    this.#deliver(pair, pair.client, chunk)
  }

  #triggerCut(pair: ProxiedConnection, trigger: CutTrigger): void {
    this.#closePair(pair)
    trigger.resolve()
  }

  #deliver(pair: ProxiedConnection, side: Socket, chunk: Buffer): void {
    const deliver = () => {
      if (!pair.muted && this.#state !== 'black hole' && !side.destroyed) side.write(chunk)
    }
    if (this.latencyMs > 0) setTimeout(deliver, this.latencyMs)
    else deliver()
  }

  #closePair(pair: ProxiedConnection): void {
    this.#pairs.delete(pair)
    pair.server.destroy()
    if (!pair.client.destroyed) pair.client.resetAndDestroy()
  }

  #closeAll(): void {
    for (const pair of this.#pairs) this.#closePair(pair)
  }
}

/** The connection of the service to the proxy, and the one of the proxy to the database. */
interface ProxiedConnection {
  client: Socket
  server: Socket
  /** Data on this connection is dropped. */
  muted: boolean
  /** The connection has sent the text `first` of the trigger. */
  armed: boolean
  /** The next response of the database cuts the connection. */
  cutOnResponse: CutTrigger | null
}

interface CutTrigger {
  text: string
  moment: 'before' | 'after'
  first: string
  resolve: () => void
}

/** As in PostgreSQL's own programs, the parameter `host` may be the folder of a Unix socket. */
function upstreamAddress(databaseUrl: string): NetConnectOpts {
  const url = new URL(databaseUrl)
  const folder = url.searchParams.get('host')
  const port = Number(url.port || 5432)
  return folder ? { path: `${folder}/.s.PGSQL.${port}` } : { host: url.hostname, port }
}

function proxiedUrl(server: Server, databaseUrl: string): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  return url.href
}
