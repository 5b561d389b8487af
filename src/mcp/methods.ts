import type { JsonObject } from '../base/json.ts'
import { Problem } from '../base/problem.ts'
import { callTool } from './call-tool.ts'
import { FormNeeded, formParams } from './decision-form.ts'
import type { ToolCaller } from './define-tool.ts'
import { decodeFormState, encodeFormState, formId } from './form-answers.ts'
import {
  HANDSHAKE_REVISIONS,
  type MethodResult,
  offersForms,
  PROTOCOL_REVISIONS,
  SERVER_INFO_KEY,
  statelessCapabilities,
} from './protocol-revision.ts'
import { MCP_TOOLS } from './tools.ts'

const INSTRUCTIONS =
  'Runs tasks of lines of work ("wedges"). Begin with list_wedges, then run_task. An action of a task may need an ' +
  'approval: show the person its preview and its connection, and let the person decide before you call decide_approval. ' +
  'A client that can show forms asks the person itself.'
const CAPABILITIES = { tools: {} }
/** These results do not change while the service runs, so clients may cache them for an hour. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'private' }

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
    case 'tools/call': {
      const called = await callTool(caller, params)
      if (called instanceof FormNeeded) throw new Error('a form needs a client that can show it')
      return called
    }
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
      const called = await callStateless(caller, params)
      if (called instanceof FormNeeded) return complete(toInputRequired(called))
      return 'result' in called ? complete(called.result) : called
    }
    default:
      return unknownMethod(method)
  }
}

/** The client sends the same call again, with the answers of the person and the state that it got with the forms. */
async function callStateless(caller: ToolCaller, params: JsonObject): Promise<MethodResult | FormNeeded> {
  if (!offersForms(statelessCapabilities(params))) return callTool(caller, params)
  try {
    return await callTool({ ...caller, forms: decodeFormState(params.requestState) }, params, params.inputResponses)
  } catch (error) {
    if (error instanceof Problem) return { error: { code: -32602, message: error.message } }
    throw error
  }
}

const toInputRequired = ({ approval, state }: FormNeeded) => ({
  resultType: 'input_required',
  inputRequests: { [formId(approval)]: { method: 'elicitation/create', params: formParams(approval) } },
  requestState: encodeFormState(state),
})

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
