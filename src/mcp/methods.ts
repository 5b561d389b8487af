import type { JsonObject } from '../base/json.ts'
import { callTool } from './call-tool.ts'
import { type JsonRpcError, PROTOCOL_REVISIONS, SERVER_INFO_KEY, HANDSHAKE_REVISIONS } from './protocol-revision.ts'
import { type ToolCaller, MCP_TOOLS } from './tools.ts'

const INSTRUCTIONS =
  'Runs tasks of lines of work ("wedges"). Begin with list_wedges, then run_task. An action of a task may need an ' +
  'approval: show the person its preview and its connection, and let the person decide before you call decide_approval.'
const CAPABILITIES = { tools: {} }
/** These results do not change while the service runs, so clients may cache them for an hour. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'private' }

type MethodResult = { result: object } | { error: JsonRpcError }

/** For protocol revisions that begin with `initialize`. */
export async function handleHandshakeMethod(
  caller: ToolCaller,
  method: string,
  params: JsonObject,
  version: string,
): Promise<MethodResult> {
  switch (method) {
    case 'initialize':
      return { result: initialize(params.protocolVersion, version) }
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: toolList() }
    case 'tools/call':
      return callTool(caller, params)
    default:
      return unknownMethod(method)
  }
}

/** For the stateless revision, in which every result names its type and the server. */
export async function handleStatelessMethod(
  caller: ToolCaller,
  method: string,
  params: JsonObject,
  version: string,
): Promise<MethodResult> {
  const complete = (result: object) => ({
    result: { resultType: 'complete', ...result, _meta: { [SERVER_INFO_KEY]: serverInfo(version) } },
  })
  switch (method) {
    case 'server/discover':
      return complete({
        supportedVersions: PROTOCOL_REVISIONS,
        capabilities: CAPABILITIES,
        instructions: INSTRUCTIONS,
        ...CACHING,
      })
    case 'tools/list':
      return complete({ ...toolList(), ...CACHING })
    case 'tools/call': {
      const called = await callTool(caller, params)
      return called.result ? complete(called.result) : called
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

const toolList = () => ({ tools: MCP_TOOLS.map(({ definition }) => definition) })

const serverInfo = (version: string) => ({ name: 'agent-work-service', title: 'Agent Work Service', version })

function initialize(requested: unknown, version: string) {
  return {
    protocolVersion: HANDSHAKE_REVISIONS.find((known) => known === requested) ?? HANDSHAKE_REVISIONS[0],
    capabilities: CAPABILITIES,
    serverInfo: serverInfo(version),
    instructions: INSTRUCTIONS,
  }
}
