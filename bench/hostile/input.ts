import { request } from 'node:http'
import type { Target } from '../load/statistics.ts'

export const MB = 1024 * 1024

/** One kind of input that a stranger may send. */
export interface HostileInput {
  name: string
  /** How often it is sent in one measurement, one after another. */
  times?: number
  /** The bytes of one call or mail. They are built when their turn comes, so that only those of one kind are in memory. */
  build: () => Buffer
  /** Sends the bytes to the service, and resolves with what became of them. */
  send: (server: Target, bytes: Buffer) => Promise<string>
}

/** A status from 200 to 299, or from 400 to 499. */
export type Expected = 'accepted' | 'refused'

interface HttpCall {
  path: string
  headers: Record<string, string>
  /** The length is not declared, so that the server cannot refuse a body that is too large before it arrives. */
  isChunked?: boolean
  expect: Expected
}

/**
 * Throws if the service did something else with the input than this part is about. A server may respond, and close the
 * connection, before it has the whole body.
 */
export function postBytes(
  { port }: Target,
  { path, headers, isChunked = false, expect }: HttpCall,
  body: Buffer,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const length = isChunked ? {} : { 'content-length': body.length }
    const options = { host: '127.0.0.1', port, path, method: 'POST', agent: false, headers: { ...headers, ...length } }
    const call = request(options)
    call.on('error', reject)
    call.on('response', (response) => {
      const { statusCode = 0 } = response
      if (Math.floor(statusCode / 100) === (expect === 'accepted' ? 2 : 4)) resolve(`status ${statusCode}`)
      let text = ''
      response.on('error', reject).on('data', (piece: Buffer) => (text += piece.toString()))
      response.on('end', () => reject(new Error(`status ${statusCode} instead of ${expect}: ${text}`)))
    })
    call.write(body)
    call.end()
  })
}

/** So many bytes of a text that is repeated, also in the middle of it. */
export const repeatText = (text: string, bytes: number): Buffer => Buffer.alloc(bytes, text)

export const joinBytes = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))

const BOUNDARY = 'b'
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

export const formField = (name: string, value = ''): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

export const formFile = (field: string, bytes: Buffer): Buffer =>
  joinBytes(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="a.pdf"\r\n` +
      'Content-Type: application/pdf\r\n\r\n',
    bytes,
    '\r\n',
  )

export const FORM_END = `--${BOUNDARY}--\r\n`

/** Fields without a value, so many that they fill the bytes. */
export const tinyFields = (bytes: number): Buffer => {
  const field = formField('a')
  return repeatText(field, Math.floor(bytes / field.length) * field.length)
}
