import type { JsonObject } from '../base/json.ts'
import { callTool } from './call-tool.ts'
import { type JsonRpcError, PROTOCOL_REVISIONS, SERVER_INFO_KEY, HANDSHAKE_REVISIONS } from './protocol-revision.ts'
import { type ToolCaller, MCP_TOOLS } from './tools.ts'

const INSTRUCTIONS =
  'Runs tasks of work ("wedges") for the founder. Begin with list_wedges, then run_task. What a task does to the ' +
  'outside may need an approval: show the person its preview and the connection that it goes through, and let them decide before you call ' +
  'decide_approval.'
const CAPABILITIES = { tools: {} }
/** What never changes while the service runs need not be asked again within the hour. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'private' }

type MethodResult = { result: object } | { error: JsonRpcError }

/** As revisions answer that begin with a handshake. */
export async function handleHandshakeMethod(
  ask: ToolCaller,
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
      return callTool(ask, params)
    default:
      return unknownMethod(method)
  }
}

/** As the stateless revision answers: every result says what it is and whose. */
export async function handleStatelessMethod(
  ask: ToolCaller,
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
      const answered = await callTool(ask, params)
      return answered.result ? complete(answered.result) : answered
    }
    default:
      return unknownMethod(method)
  }
}

const METHOD_NOT_FOUND = -32601
const unknownMethod = (method: string) => ({
  error: { code: METHOD_NOT_FOUND, message: `no such method: ${method.slice(0, 100)}` },
})
export const isUnknownMethod = (answered: MethodResult) =>
  'error' in answered && answered.error.code === METHOD_NOT_FOUND

const toolList = () => ({ tools: MCP_TOOLS.map(({ definition: described }) => described) })

const serverInfo = (version: string) => ({ name: 'agent-work-service', title: 'Agent Work Service', version })

function initialize(wanted: unknown, version: string) {
  return {
    protocolVersion: HANDSHAKE_REVISIONS.find((known) => known === wanted) ?? HANDSHAKE_REVISIONS[0],
    capabilities: CAPABILITIES,
    serverInfo: serverInfo(version),
    instructions: INSTRUCTIONS,
  }
}
