import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** Responds to bytes that are not an HTTP request. There is no route and no request id, but the body is an error like any other. */
export function respondToMalformedRequest(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, sentence] = malformedRequestError(error.code)
  const body = JSON.stringify({ error: sentence })
  if (socket.writable) {
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json`
    socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  }
  socket.destroy()
}

function malformedRequestError(code: string | undefined): [number, string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request was not received in time']
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'headers are larger than 16 KiB']
  return [400, 'malformed http request']
}
