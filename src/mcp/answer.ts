import type { JsonObject } from '../base/json.ts'
import { callTool } from './call.ts'
import { type Fault, REVISIONS, SERVER_KEY, SHAKING_HANDS } from './revision.ts'
import { type ToolAsk, TOOLS } from './tools.ts'

const INSTRUCTIONS =
  'Runs tasks of work ("wedges") for the founder. Begin with list_wedges, then run_task. What a task does to the ' +
  'outside may need an approval: show the person its preview and the connection that it goes through, and let them decide before you call ' +
  'decide_approval.'
const CAPABILITIES = { tools: {} }
/** What never changes while the service runs need not be asked again within the hour. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'private' }

type Answered = { result: object } | { error: Fault }

/** As revisions answer that begin with a handshake. */
export async function answerShaken(
  ask: ToolAsk,
  method: string,
  params: JsonObject,
  version: string,
): Promise<Answered> {
  switch (method) {
    case 'initialize':
      return { result: initialize(params.protocolVersion, version) }
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: listed() }
    case 'tools/call':
      return callTool(ask, params)
    default:
      return noMethod(method)
  }
}

/** As the stateless revision answers: every result says what it is and whose. */
export async function answerStateless(
  ask: ToolAsk,
  method: string,
  params: JsonObject,
  version: string,
): Promise<Answered> {
  const complete = (result: object) => ({
    result: { resultType: 'complete', ...result, _meta: { [SERVER_KEY]: serverInfo(version) } },
  })
  switch (method) {
    case 'server/discover':
      return complete({
        supportedVersions: REVISIONS,
        capabilities: CAPABILITIES,
        instructions: INSTRUCTIONS,
        ...CACHING,
      })
    case 'tools/list':
      return complete({ ...listed(), ...CACHING })
    case 'tools/call': {
      const answered = await callTool(ask, params)
      return answered.result ? complete(answered.result) : answered
    }
    default:
      return noMethod(method)
  }
}

const NO_METHOD = -32601
const noMethod = (method: string) => ({
  error: { code: NO_METHOD, message: `no such method: ${method.slice(0, 100)}` },
})
export const isNoMethod = (answered: Answered) => 'error' in answered && answered.error.code === NO_METHOD

const listed = () => ({ tools: TOOLS.map(({ described }) => described) })

const serverInfo = (version: string) => ({ name: 'agent-work-service', title: 'Agent Work Service', version })

function initialize(wanted: unknown, version: string) {
  return {
    protocolVersion: SHAKING_HANDS.find((known) => known === wanted) ?? SHAKING_HANDS[0],
    capabilities: CAPABILITIES,
    serverInfo: serverInfo(version),
    instructions: INSTRUCTIONS,
  }
}
