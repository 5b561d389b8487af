import { connect, type Socket } from 'node:net'
import type { Target } from './statistics.ts'

/**
 * A keep-alive connection with the minimum of HTTP/1.1. A complete client would need more processor time for a request
 * than the servers do, and hide the difference between them.
 */
export class Connection {
  readonly #socket: Socket
  readonly #head: string
  #receive: (chunk: Buffer) => void = () => {}
  #fail: (error: Error) => void = () => {}

  constructor({ host = '127.0.0.1', port, key, project }: Target) {
    const inProject = project === undefined ? '' : `x-svc-project: ${project}\r\n`
    this.#head = ` HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${key}\r\n${inProject}`
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
        const response = parseResponse(received)
        if (response) resolve(response)
      }
      this.#socket.write(`${method} ${path}${this.#head}${content}\r\n${body ?? ''}`)
    })
  }

  /** Passes on the raw chunks of a stream, including the head and the chunk sizes; resolves when the server ends it. */
  stream(path: string, after: number, onChunk: (chunk: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      let end: Buffer = Buffer.alloc(0)
      this.#fail = reject
      this.#receive = (chunk) => {
        if (end.length === 0 && !chunk.subarray(0, 12).equals(STATUS_OK))
          reject(new Error(`the server did not open a stream: ${String(chunk)}`))
        onChunk(chunk)
        end = Buffer.concat([end, chunk.subarray(-5)]).subarray(-5)
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

const STATUS_OK = Buffer.from('HTTP/1.1 200')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Null while the response is incomplete. */
function parseResponse(received: Buffer): { status: number; body: string } | null {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = received.toString('latin1', 0, end)
  const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  if (received.length < end + 4 + length) return null
  return { status: Number(head.slice(9, 12)), body: received.toString('utf8', end + 4, end + 4 + length) }
}
