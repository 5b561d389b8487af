import type { JsonObject } from '../../platform/base/json.ts'
import { Problem } from '../../platform/base/problem.ts'
import { callTool, MCP_TOOLS } from './call-tool.ts'
import { FormNeeded, formParams } from './decision-form.ts'
import type { ToolCaller } from './define-tool.ts'
import { decodeFormState, encodeFormState, formId } from './form-answers.ts'
import type { McpToolServer } from './methods.ts'
import { type MethodResult, offersForms, statelessCapabilities } from './protocol-revision.ts'

const INSTRUCTIONS =
  'Runs tasks of lines of work ("wedges"). Begin with list_wedges, then run_task. An action of a task may need an ' +
  'approval: show the person its preview and its connection, and let the person decide before you call decide_approval. ' +
  'A client that can show forms asks the person itself.'

/** The tools for a member or an API key. */
export const founderServer = (caller: ToolCaller, version: string): McpToolServer => ({
  version,
  instructions: INSTRUCTIONS,
  listTools: async () => MCP_TOOLS.map(({ definition }) => definition),
  async callTool(params, revision) {
    if (revision === 'stateless') return callStateless(caller, params)
    const called = await callTool(caller, params)
    if (called instanceof FormNeeded) throw new Error('a form needs a client that can show it')
    return called
  },
})

/** The client sends the same call again, with the answers of the person and the state that it got with the forms. */
async function callStateless(caller: ToolCaller, params: JsonObject): Promise<MethodResult> {
  const withForms = offersForms(statelessCapabilities(params))
  try {
    const called = withForms
      ? await callTool({ ...caller, forms: decodeFormState(params.requestState) }, params, params.inputResponses)
      : await callTool(caller, params)
    return called instanceof FormNeeded ? { result: toInputRequired(called) } : called
  } catch (error) {
    if (withForms && error instanceof Problem) return { error: { code: -32602, message: error.message } }
    throw error
  }
}

const toInputRequired = ({ approval, state }: FormNeeded) => ({
  resultType: 'input_required',
  inputRequests: { [formId(approval)]: { method: 'elicitation/create', params: formParams(approval) } },
  requestState: encodeFormState(state),
})
