import type { JsonObject } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import { HANDSHAKE_REVISIONS, type MethodResult, PROTOCOL_REVISIONS, SERVER_INFO_KEY } from './protocol-revision.ts'

/** The tools of a caller. */
export interface McpToolServer {
  version: string
  instructions: string
  listTools(): Promise<object[]>
  callTool(params: JsonObject, revision: McpRevision): Promise<MethodResult>
}

export type McpRevision = 'handshake' | 'stateless'

const CAPABILITIES = { tools: {} }
/** These results do not change while the caller can use them, so clients may cache them for an hour. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'private' }

export function handleMethod(
  server: McpToolServer,
  revision: McpRevision,
  method: string,
  params: JsonObject,
): Promise<MethodResult> {
  const handle = revision === 'stateless' ? handleStatelessMethod : handleHandshakeMethod
  return handle(server, method, params)
}

/** For protocol revisions that begin with `initialize`. */
async function handleHandshakeMethod(server: McpToolServer, method: string, params: JsonObject): Promise<MethodResult> {
  switch (method) {
    case 'initialize':
      return { result: initialize(server, params.protocolVersion) }
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: { tools: await server.listTools() } }
    case 'tools/call':
      return server.callTool(params, 'handshake')
    default:
      return unknownMethod(method)
  }
}

/** For the stateless revision, in which every result names its type and the server. */
async function handleStatelessMethod(server: McpToolServer, method: string, params: JsonObject): Promise<MethodResult> {
  const complete = (result: object) => ({
    result: { resultType: 'complete', ...result, _meta: { [SERVER_INFO_KEY]: serverInfo(server) } },
  })
  switch (method) {
    case 'server/discover':
      return complete({
        supportedVersions: PROTOCOL_REVISIONS,
        capabilities: CAPABILITIES,
        instructions: server.instructions,
        ...CACHING,
      })
    case 'tools/list':
      return complete({ tools: await server.listTools(), ...CACHING })
    case 'tools/call': {
      const called = await server.callTool(params, 'stateless')
      return 'result' in called ? complete(called.result) : called
    }
    default:
      return unknownMethod(method)
  }
}

const METHOD_NOT_FOUND = -32601
const unknownMethod = (method: string) => ({
  error: { code: METHOD_NOT_FOUND, message: `no such method: ${method.slice(0, 100)}` },
})
export const isUnknownMethod = (result: MethodResult) => 'error' in result && result.error.code === METHOD_NOT_FOUND

export const unknownTool = (name: unknown): MethodResult => ({
  error: {
    code: -32602,
    message: typeof name === 'string' ? `no such tool: ${name.slice(0, 100)}` : 'params.name must be a string',
  },
})

/** The result of a call that worked; `structured` is also given as text, for clients that read only that. */
export const toolResult = (structured: object, isError = false): MethodResult => ({
  result: { content: [textContent(JSON.stringify(structured))], structuredContent: structured, isError },
})

/** A mistake of the caller is a result, so that an assistant can read it and correct the call. */
export const toolError = (message: string): MethodResult => ({
  result: { content: [textContent(message)], isError: true },
})

const textContent = (text: string) => ({ type: 'text', text })

const serverInfo = ({ version }: McpToolServer) => ({
  name: 'agent-work-service',
  title: 'Agent Work Service',
  version,
})

function initialize(server: McpToolServer, requested: unknown) {
  return {
    protocolVersion: HANDSHAKE_REVISIONS.find((known) => known === requested) ?? HANDSHAKE_REVISIONS[0],
    capabilities: CAPABILITIES,
    serverInfo: serverInfo(server),
    instructions: server.instructions,
  }
}

export const noStream = () =>
  new Problem(405, 'method must be POST: this endpoint has no stream and no session', { headers: { allow: 'POST' } })
