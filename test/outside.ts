import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** A server of the outside world, on this machine. */
export interface Outside {
  url: string
  port: number
  received: Received[]
  /** Answers a call; unless a test sets it, with 200 and `{"done":true}`. */
  answer: (seen: Received, response: ServerResponse) => void
  /** How many were opened to it. */
  connections: () => number
  close(): Promise<void>
}

export async function openOutside(): Promise<Outside> {
  let connections = 0
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const seen = { method, url, headers, body }
      outside.received.push(seen)
      outside.answer(seen, response)
    })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outside: Outside = {
    url: `http://127.0.0.1:${port}`,
    port,
    received: [],
    connections: () => connections,
    answer: (_seen, response) => answerJson(response, 200, { done: true }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return outside
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
