import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A proxy before the service that refuses requests, loses responses and cuts streams. */
export interface FaultyProxy {
  url: string
  received: { method: string; path: string; headers: IncomingMessage['headers'] }[]
  /** The responses to the next requests, which do not reach the service. */
  refusals: { status: number; headers?: Record<string, string>; body?: string }[]
  /** So many of the next responses are lost after the service has carried out the request. */
  lostResponses: number
  /** So many of the next responses are cut in the middle of their body. */
  halfResponses: number
}

/** Every event stream is cut in the middle of its second event. */
export async function openFaultyProxy(target: string): Promise<FaultyProxy> {
  const server = createServer((request, response) => {
    // A client that went away is no error of the proxy.
    forward(proxy, target, request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${port}`,
    received: [],
    refusals: [],
    lostResponses: 0,
    halfResponses: 0,
  }
  return proxy
}

async function forward(proxy: FaultyProxy, target: string, request: IncomingMessage, response: ServerResponse) {
  const { method = '', url: path = '', headers } = request
  proxy.received.push({ method, path, headers })
  const body = await buffer(request)
  const refusal = proxy.refusals.shift()
  if (refusal) return response.writeHead(refusal.status, refusal.headers).end(refusal.body ?? '{"error":"refused"}')
  const names = ['authorization', 'content-type', 'idempotency-key', 'last-event-id']
  const passed = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])] as const]))
  const abort = new AbortController()
  const answer = await fetch(target + path, {
    method,
    headers: Object.fromEntries(passed),
    ...(body.length > 0 && { body }),
    signal: abort.signal,
  })
  if (proxy.lostResponses > 0) {
    proxy.lostResponses--
    await answer.text()
    return request.socket.destroy()
  }
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream') || !answer.body) {
    const content = Buffer.from(await answer.arrayBuffer())
    if (proxy.halfResponses === 0) return response.end(content)
    proxy.halfResponses--
    return response.write(content.subarray(0, content.length / 2), () => request.socket.destroy())
  }
  const piece = await readFirstEventAndAHalf(answer.body)
  abort.abort()
  return response.write(piece, () => request.socket.destroy())
}

async function readFirstEventAndAHalf(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf('\n\n')
    if (end >= 0) return text.slice(0, end + 2 + 30)
  }
  return text
}
