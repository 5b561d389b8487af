import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** A local server that stands for an upstream service. */
export interface FakeUpstream {
  url: string
  port: number
  received: ReceivedRequest[]
  /** Responds to a request. The default response is 200 and `{"done":true}`. */
  respond: (received: ReceivedRequest, response: ServerResponse) => void
  /** The number of TCP connections opened so far. */
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
      const received = { method, url, headers, body }
      upstream.received.push(received)
      upstream.respond(received, response)
    })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const upstream: FakeUpstream = {
    url: `http://127.0.0.1:${port}`,
    port,
    received: [],
    connections: () => connections,
    respond: (_received, response) => respondJson(response, 200, { done: true }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}

export function respondJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
