import { connect, type Socket } from 'node:net'
import type { Target } from './statistics.ts'

/**
 * One kept connection that speaks just enough HTTP/1.1. A full client would spend more on a request than the servers
 * do, and blur the difference between them.
 */
export class Connection {
  readonly #socket: Socket
  readonly #head: string
  #receive: (chunk: Buffer) => void = () => {}
  #fail: (error: Error) => void = () => {}

  constructor({ host = '127.0.0.1', port, key }: Target) {
    this.#head = ` HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${key}\r\n`
    this.#socket = connect({ port, host, noDelay: true })
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  request(method: string, path: string, body?: string): Promise<{ status: number; body: string }> {
    const content = body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0)
      this.#fail = reject
      this.#receive = (chunk) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
        const answer = answerIn(received)
        if (answer) resolve(answer)
      }
      this.#socket.write(`${method} ${path}${this.#head}${content}\r\n${body ?? ''}`)
    })
  }

  /** Hands out the raw pieces of a stream, its head and chunk sizes included; resolves when the server ends it. */
  stream(path: string, after: number, onPiece: (piece: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      let end: Buffer = Buffer.alloc(0)
      this.#fail = reject
      this.#receive = (piece) => {
        if (end.length === 0 && !piece.subarray(0, 12).equals(STREAMS)) reject(new Error(`no stream: ${String(piece)}`))
        onPiece(piece)
        end = Buffer.concat([end, piece.subarray(-5)]).subarray(-5)
        if (end.equals(LAST_CHUNK)) resolve()
      }
      const from = after > 0 ? `last-event-id: ${after}\r\n` : ''
      this.#socket.write(`GET ${path}${this.#head}accept: text/event-stream\r\n${from}\r\n`)
    })
  }

  close(): void {
    this.#fail = () => {}
    this.#receive = () => {}
    this.#socket.destroy()
  }
}

const STREAMS = Buffer.from('HTTP/1.1 200')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

function answerIn(received: Buffer): { status: number; body: string } | null {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = received.toString('latin1', 0, end)
  const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  if (received.length < end + 4 + length) return null
  return { status: Number(head.slice(9, 12)), body: received.toString('utf8', end + 4, end + 4 + length) }
}
