import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** A server of the outside world, on this machine. */
export interface FakeUpstream {
  url: string
  port: number
  received: ReceivedRequest[]
  /** Answers a call; unless a test sets it, with 200 and `{"done":true}`. */
  respond: (seen: ReceivedRequest, response: ServerResponse) => void
  /** How many were opened to it. */
  connections: () => number
  close(): Promise<void>
}

export async function openFakeUpstream(): Promise<FakeUpstream> {
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
      outside.respond(seen, response)
    })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outside: FakeUpstream = {
    url: `http://127.0.0.1:${port}`,
    port,
    received: [],
    connections: () => connections,
    respond: (_seen, response) => respondJson(response, 200, { done: true }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return outside
}

export function respondJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
