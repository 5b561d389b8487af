import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { createDatabase, dropDatabase } from '../postgres.ts'

/** A database of its own for one test, behind a wire that can be cut. */
export async function createProxiedDatabase(): Promise<{ proxy: TcpProxy; database: string }> {
  const database = await createDatabase()
  onTestFinished(() => dropDatabase(database))
  const proxy = await TcpProxy.openFor(database)
  onTestFinished(() => proxy.close())
  return { proxy, database }
}

/**
 * Lies between a service and its PostgreSQL, and does to the wire what networks do: it delays, cuts, swallows, and
 * forgets to say that the other side is gone.
 */
export class TcpProxy {
  /** Added to every piece, in both directions. */
  latencyMs = 0
  #way: 'open' | 'refused' | 'black hole' = 'open'
  #trap: Trap | null = null
  readonly #pairs = new Set<ProxiedConnection>()
  readonly #server: Server
  readonly #upstream: NetConnectOpts
  /** The database's address through this proxy. */
  readonly url: string

  private constructor(server: Server, databaseUrl: string) {
    this.#server = server
    this.#upstream = upstreamAddress(databaseUrl)
    this.url = proxiedUrl(server, databaseUrl)
    server.on('connection', (near) => this.#join(near))
  }

  /** Whoever calls this calls `close` in the end. */
  static async openFor(databaseUrl: string): Promise<TcpProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, databaseUrl)
  }

  /** Ends every connection on both sides and refuses new ones, until `heal`. */
  cut(): void {
    this.#way = 'refused'
    this.#hangUp()
  }

  /** Nothing arrives any more in either direction and nobody is told; new connections meet silence. Until `heal`. */
  blackHole(): void {
    this.#way = 'black hole'
  }

  /** The database's ends are gone while the service still believes in its own; new connections are good. */
  halfOpen(): void {
    for (const pair of this.#pairs) {
      pair.mute = true
      pair.far.destroy()
    }
  }

  /**
   * The next connection that sends `words` dies of it: before the database hears them, or after it has answered and
   * before the service hears that. With `once`, only after it has sent those words too. Resolves when it has happened.
   */
  cutAt(words: string, moment: 'before' | 'after', once = ''): Promise<void> {
    for (const pair of this.#pairs) pair.warned = once === ''
    return new Promise((sprung) => {
      this.#trap = { words, moment, once, sprung }
    })
  }

  /** Connections that met a cut or a black hole stay lost, like those of a real one; new ones are good. */
  heal(): void {
    if (this.#way === 'black hole') for (const pair of this.#pairs) pair.mute = true
    this.#way = 'open'
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#hangUp()
    await once(this.#server, 'close')
  }

  #join(near: Socket): void {
    if (this.#way === 'refused') return void near.resetAndDestroy()
    const pair: ProxiedConnection = {
      near,
      far: connect(this.#upstream),
      mute: false,
      warned: !this.#trap?.once,
      doomed: null,
    }
    this.#pairs.add(pair)
    near.setNoDelay()
    near.on('data', (piece) => this.#sent(pair, piece))
    pair.far.on('data', (piece) => this.#answered(pair, piece))
    for (const side of [near, pair.far]) side.on('error', () => {})
    near.on('close', () => this.#part(pair))
    pair.far.on('close', () => pair.mute || this.#way === 'black hole' || this.#part(pair))
  }

  #sent(pair: ProxiedConnection, piece: Buffer): void {
    const trap = this.#trap
    if (trap?.once && piece.includes(trap.once)) pair.warned = true
    if (trap && pair.warned && piece.includes(trap.words)) {
      this.#trap = null
      if (trap.moment === 'before') return this.#spring(pair, trap)
      pair.doomed = trap
    }
    this.#pass(pair, pair.far, piece)
  }

  #answered(pair: ProxiedConnection, piece: Buffer): void {
    if (pair.doomed) return this.#spring(pair, pair.doomed)
    this.#pass(pair, pair.near, piece)
  }

  #spring(pair: ProxiedConnection, trap: Trap): void {
    this.#part(pair)
    trap.sprung()
  }

  #pass(pair: ProxiedConnection, side: Socket, piece: Buffer): void {
    const deliver = () => {
      if (!pair.mute && this.#way !== 'black hole' && !side.destroyed) side.write(piece)
    }
    if (this.latencyMs > 0) setTimeout(deliver, this.latencyMs)
    else deliver()
  }

  #part(pair: ProxiedConnection): void {
    this.#pairs.delete(pair)
    pair.far.destroy()
    if (!pair.near.destroyed) pair.near.resetAndDestroy()
  }

  #hangUp(): void {
    for (const pair of this.#pairs) this.#part(pair)
  }
}

/** The service's connection and the one that carries it on. */
interface ProxiedConnection {
  near: Socket
  far: Socket
  /** What is said on it is heard by nobody. */
  mute: boolean
  /** It has said what makes the trap ready. */
  warned: boolean
  doomed: Trap | null
}

interface Trap {
  words: string
  moment: 'before' | 'after'
  once: string
  sprung: () => void
}

/** A server on a Unix socket is named by the folder that holds it, as PostgreSQL's own programs do. */
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
