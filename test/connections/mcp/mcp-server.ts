import type { ServerResponse } from 'node:http'
import { type FakeUpstream, type ReceivedRequest, respondJson } from '../../fake-upstream.ts'
import { openUpstreamServer } from '../test-context.ts'

export interface ToolCall {
  name: string
  arguments: Record<string, unknown>
  id: number
  received: ReceivedRequest
  /** Answers the call with a result of one text. */
  answer: (text: string) => void
  respond: (message: object) => void
  response: ServerResponse
}

/** An MCP server over streamable HTTP that a test can make misbehave. */
export interface TestMcpServer {
  upstream: FakeUpstream
  url: string
  tools: unknown[]
  /** The calls of tools so far. */
  calls: ToolCall[]
  onCall: (call: ToolCall) => void
  /** Answers a request before the server does; true if it did. */
  intercept: (received: ReceivedRequest, response: ServerResponse) => boolean
}

export const echoTool = {
  name: 'echo',
  description: 'Repeats a text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  annotations: { readOnlyHint: true },
}

export async function openMcpServer(tools: unknown[] = [echoTool]): Promise<TestMcpServer> {
  const upstream = await openUpstreamServer((received, response) => {
    if (!server.intercept(received, response)) respondToMcp(server, received, response)
  })
  const server: TestMcpServer = {
    upstream,
    url: `${upstream.url}/mcp`,
    tools,
    calls: [],
    onCall: (call) => call.answer(`you said ${JSON.stringify(call.arguments)}`),
    intercept: () => false,
  }
  return server
}

function respondToMcp(server: TestMcpServer, received: ReceivedRequest, response: ServerResponse): void {
  if (received.method === 'DELETE') return void response.writeHead(200).end()
  if (received.method !== 'POST') return void response.writeHead(405).end()
  const { id, method, params } = JSON.parse(received.body)
  const respond = (message: object) => respondJson(response, 200, { jsonrpc: '2.0', id, ...message })
  if (id === undefined) return void response.writeHead(202).end()
  if (method === 'initialize') {
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'test', version: '1' },
    }
    response.setHeader('mcp-session-id', 'session-1')
    return respond({ result })
  }
  if (method === 'tools/list') return respond({ result: { tools: server.tools } })
  if (method !== 'tools/call') return respond({ error: { code: -32601, message: 'method not found' } })
  const call: ToolCall = {
    ...params,
    id,
    received,
    response,
    respond,
    answer: (text) => respond({ result: { content: [{ type: 'text', text }] } }),
  }
  server.calls.push(call)
  server.onCall(call)
}

/** The methods of all messages that the server got. */
export const methodsOf = ({ upstream }: TestMcpServer): string[] =>
  upstream.received.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body).method] : [method]))
