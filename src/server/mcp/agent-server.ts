import { errorMessageIn } from '../../platform/base/json-fields.ts'
import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import type { CompleteResponse, PipeResponsePart } from '../../platform/contract/agent-protocol.ts'
import type { GateCheck } from '../../platform/contract/gate-check.ts'
import { argumentErrors, schemaErrors } from '../../platform/contract/output-schema.ts'
import type { PlaneToolRequest } from '../../platform/contract/plane-tools.ts'
import type { PipePlane } from '../../platform/http/pipe-plane.ts'
import { outputSchemaOfRun } from '../../execution/runs/session/create-brief.ts'
import type { TaskRun } from '../../execution/runs/session/task-run.ts'
import { type AgentTool, FINISH_TOOL, finishDefinition, listAgentTools, toStructured } from './agent-tools.ts'
import { type McpToolServer, toolError, toolResult, unknownTool } from './methods.ts'
import type { MethodResult } from './protocol-revision.ts'

const INSTRUCTIONS =
  'The tools of this task. A tool that has an effect outside may wait until a person has approved it, for minutes or days. ' +
  'When the work is done, call finish with the output.'

/** The tools of a run. Every call passes the routes of the sandbox plane, with their gate, limits and audit entries. */
export const agentServer = (plane: PipePlane<TaskRun>, run: TaskRun, version: string): McpToolServer => ({
  version,
  instructions: INSTRUCTIONS,
  listTools: async () => [
    ...toolsOf(run).map(({ definition }) => definition),
    finishDefinition(outputSchemaOfRun(run)),
  ],
  async callTool({ name, arguments: given }) {
    const input = isJsonObject(given) ? given : {}
    if (name === FINISH_TOOL) return finish(run, input)
    const tool = toolsOf(run).find(({ definition }) => definition.name === name)
    return tool ? callAgentTool(plane, run, tool, input) : unknownTool(name)
  },
})

const toolsOf = ({ stored: { brief } }: TaskRun): AgentTool[] => (brief ? listAgentTools(brief) : [])

async function callAgentTool(
  plane: PipePlane<TaskRun>,
  run: TaskRun,
  { definition, toRequest }: AgentTool,
  input: JsonObject,
): Promise<MethodResult> {
  const errors = argumentErrors(definition.inputSchema, input)
  if (errors.length > 0) return toolError(toSentence(errors))
  const { request, gate } = toRequest(input)
  const { status, body } = await callPlane(plane, run, request, gate)
  if (status >= 400) return toolError(errorMessageIn(body) || `the service answered with status ${status}`)
  const result = toStructured(body)
  // `ok: false` comes from the other side, or from a person who sent the request back.
  return toolResult(result, result.ok === false)
}

function callPlane(
  plane: PipePlane<TaskRun>,
  run: TaskRun,
  { method, path, body }: PlaneToolRequest,
  gate: GateCheck | null,
): Promise<CompleteResponse> {
  const first = gate
    ? { token: run.tokens.gate, method: 'POST', path: '/v1/internal/gate', body: { ...gate } }
    : undefined
  const request = { token: run.tokens.task, method, path: `/v1/internal/${path}`, body, first }
  return new Promise((resolve) => {
    const send = (part: PipeResponsePart) => {
      if ('status' in part) resolve(part)
      return true
    }
    void plane(run, request, { send, whenDrained: (call) => call() })
  })
}

/** An output that does not match its schema is refused, so that the agent can correct it. */
function finish(run: TaskRun, input: JsonObject): MethodResult {
  const { output } = input
  if (output === undefined) return toolError("argument 'output' is required")
  const schema = outputSchemaOfRun(run)
  const errors = schema ? schemaErrors(schema, output) : []
  if (errors.length > 0) return toolError(toSentence(errors))
  if (!run.ending.finish(output)) return toolError('the task has its output already')
  return toolResult({ finished: true })
}

const toSentence = (errors: { path: string; message: string }[]): string =>
  errors.map(({ path, message }) => `${path} ${message}`).join('; ')
