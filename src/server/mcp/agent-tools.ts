import type { Json, JsonObject } from '../../platform/base/json.ts'
import { isJsonObject } from '../../platform/base/json.ts'
import type { Brief, WorkflowDeclaration } from '../../platform/contract/agent-protocol.ts'
import {
  nameConnectionTools,
  type NamedTool,
  needsGeneralTools,
  toModelToolName,
} from '../../platform/contract/connection-tool-names.ts'
import { type GateCheck, requiredGateCheck } from '../../platform/contract/gate-check.ts'
import {
  actionRequest,
  FINISH_DESCRIPTION,
  PLANE_TOOLS,
  type PlaneToolRequest,
  readRequest,
  workflowRequest,
} from '../../platform/contract/plane-tools.ts'
import type { ToolName } from '../../platform/contract/tool-names.ts'

/** A tool of one run, and the request to the sandbox plane that it stands for. */
export interface AgentTool {
  definition: { name: string; description: string; inputSchema: JsonObject; annotations: JsonObject }
  toRequest: (input: JsonObject) => { request: PlaneToolRequest; gate: GateCheck | null }
}

export type ToolBrief = Pick<Brief, 'connections' | 'workflows' | 'tools' | 'gate_patterns'>

/** Everything that the run may use, under the names by which a model calls it. */
export function listAgentTools(brief: ToolBrief): AgentTool[] {
  const may = (name: ToolName) => brief.tools.includes(name)
  const general = needsGeneralTools(brief) ? PLANE_TOOL_NAMES : PLANE_TOOL_NAMES.filter((name) => !isGeneral(name))
  return [
    ...nameConnectionTools(brief.connections).map((tool) => connectionTool(brief, tool)),
    ...(may('workflow') ? brief.workflows.map((workflow) => workflowTool(brief, workflow)) : []),
    // An agent that may replace a record may also delete it.
    ...general
      .filter((name) => may(name === 'records_delete' ? 'records_put' : name))
      .map((name) => planeTool(brief, name)),
  ]
}

const PLANE_TOOL_NAMES = [
  'act',
  'read',
  'records_get',
  'records_put',
  'records_list',
  'records_delete',
  'case_get',
  'case_update',
  'skill_read',
  'ask_person',
] as const
type PlaneToolName = (typeof PLANE_TOOL_NAMES)[number]

const isGeneral = (name: PlaneToolName) => name === 'act' || name === 'read'

function planeTool(brief: ToolBrief, name: PlaneToolName): AgentTool {
  const spec = PLANE_TOOLS[name]
  const { description, properties, required } = spec
  const readOnlyHint = /^read$|_(?:get|list|read)$/.test(name)
  return {
    definition: {
      name,
      description,
      inputSchema: { type: 'object', properties, required },
      annotations: { readOnlyHint },
    },
    toRequest: (input) => ({ request: spec.toRequest(input), gate: requiredGateCheck(brief, { name, input }, null) }),
  }
}

function connectionTool(brief: ToolBrief, tool: NamedTool): AgentTool {
  const { toolName: name, connection, capability, description, input_schema } = tool
  const isRead = tool.class === 'read'
  return {
    definition: { name, description, inputSchema: input_schema, annotations: { readOnlyHint: isRead } },
    toRequest: (input) => ({
      request: isRead
        ? readRequest(capability, { connection, arguments: input })
        : actionRequest(capability, { connection, payload: input }),
      gate: requiredGateCheck(brief, { name, input }, tool),
    }),
  }
}

/** The arguments of the tool are those of the workflow. If they are not an object, they are the field `args`. */
function workflowTool(brief: ToolBrief, { name, description, input_schema }: WorkflowDeclaration): AgentTool {
  const schema = input_schema ?? {}
  const isObject = schema.type === undefined || schema.type === 'object'
  const inputSchema = isObject
    ? { ...schema, type: 'object' }
    : { type: 'object', properties: { args: schema }, required: ['args'] }
  return {
    definition: {
      name: toModelToolName('workflow', name),
      description: description ?? PLANE_TOOLS.workflow.description,
      inputSchema,
      annotations: {},
    },
    toRequest(input) {
      const args: Json = isObject ? input : (input.args ?? null)
      const call = { name: 'workflow', input: { name, args } }
      return { request: workflowRequest(name, args), gate: requiredGateCheck(brief, call, null) }
    },
  }
}

export const FINISH_TOOL = 'finish'

export const finishDefinition = (outputSchema: JsonObject | null): AgentTool['definition'] => ({
  name: FINISH_TOOL,
  description: FINISH_DESCRIPTION,
  inputSchema: { type: 'object', properties: { output: outputSchema ?? {} }, required: ['output'] },
  annotations: {},
})

/** The response of a route as the structured result of a tool. */
export const toStructured = (body: Json): JsonObject =>
  isJsonObject(body) ? body : body === null ? {} : { result: body }
