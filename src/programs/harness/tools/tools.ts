import type { Json, JsonObject } from '../../../platform/base/json.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import type { Brief } from '../../../platform/contract/agent-protocol.ts'
import { type NamedTool, needsGeneralTools } from '../../../platform/contract/connection-tool-names.ts'
import { type GateCheck, requiredGateCheck } from '../../../platform/contract/gate-check.ts'
import { argumentErrors } from '../../../platform/contract/output-schema.ts'
import { truncateText } from '../../../platform/contract/truncate-value.ts'
import { commandTool } from './command-tool.ts'
import type { ToolCall, ToolCallResult, ToolSpec } from '../../../platform/contract/providers/conversation.ts'
import { emitProgress, emitToolCalled, emitToolResult } from '../agent-events.ts'
import { pickFields, textField } from '../../../platform/base/json-fields.ts'
import { connectionToolsOf } from './connection-tools.ts'
import { fileTools } from './file-tools.ts'
import { fileReadTool } from '../input-files.ts'
import { passGate } from './tool-gate.ts'
import { planeTools } from './plane-tools.ts'
import { type HarnessRun, RunFailure } from '../harness-run.ts'
import { toolFailure, type ToolOutcome, type HarnessTool, type CallableTool } from './tool.ts'

/** A longer result would fill the context of the model. */
const MAX_RESULT_CHARS = 200_000

const progressTool: HarnessTool = {
  name: 'progress',
  description: 'Tells people who follow the task what you are doing. Clients may read it, so write nothing internal.',
  properties: { text: { type: 'string' } },
  required: ['text'],
  async run(run, input) {
    emitProgress(run.emit, textField(input, 'text'))
    return { ok: true, output: 'noted' }
  },
}

const TOOLS: HarnessTool[] = [...planeTools, fileReadTool, ...fileTools, commandTool, progressTool]

export function listToolSpecs(brief: Brief): ToolSpec[] {
  const builtIn = TOOLS.filter(({ name }) => brief.tools.includes(name))
  const offered = needsGeneralTools(brief) ? builtIn : builtIn.filter(({ name }) => name !== 'act' && name !== 'read')
  return [...offered, ...connectionToolsOf(brief)].map((tool) => ({
    name: tool.name,
    description: tool.description,
    schema: inputSchemaOf(tool),
    strict: false,
  }))
}

/** `act` and `read` can be called even if they are not offered: a rehearsal works with and without named tools. */
function findCallableTool(brief: Brief, name: string): CallableTool | undefined {
  const builtIn = brief.tools.includes(name) ? TOOLS.find((tool) => tool.name === name) : undefined
  return builtIn ?? connectionToolsOf(brief).find((tool) => tool.name === name)
}

/** Executes a tool call and returns the result for the model. */
export async function executeToolCall(run: HarnessRun, call: ToolCall): Promise<ToolCallResult> {
  const tool = findCallableTool(run.brief, call.name)
  const outcome = tool ? await runHarnessTool(run, tool, call) : refuseCall(run, call)
  const content = outcome.ok ? outcome.output : (outcome.output ?? { error: outcome.error })
  const text = truncateText(typeof content === 'string' ? content : JSON.stringify(content), MAX_RESULT_CHARS)
  return { id: call.id, ok: outcome.ok, content: text }
}

/** Runs a tool after the gate check that it needs, and emits the two events of the timeline. */
export async function runHarnessTool(run: HarnessRun, tool: CallableTool, call: ToolCall): Promise<ToolOutcome> {
  if (tool === progressTool && call.inputError === null) return runGuarded(run, tool, call, null)
  const gateCheck = requiredGateCheck(run.brief, call, targetOf(tool))
  if (!run.logged.called.delete(call.id))
    emitToolCalled(run.emit, call, shownInput(call, targetOf(tool), gateCheck !== null))
  const outcome = await runGuarded(run, tool, call, gateCheck)
  if (run.logged.returned.delete(call.id)) return outcome
  if (outcome.ok) emitToolResult(run.emit, call, true, outcome.shown ?? outcome.output)
  else emitToolResult(run.emit, call, false, outcome.error)
  return outcome
}

function refuseCall(run: HarnessRun, call: ToolCall): ToolOutcome {
  const error = call.inputError ?? `there is no tool '${call.name}'`
  if (!run.logged.called.delete(call.id)) emitToolCalled(run.emit, call, {})
  if (!run.logged.returned.delete(call.id)) emitToolResult(run.emit, call, false, error)
  return toolFailure(error)
}

/** An error inside a tool is returned to the model; only a RunFailure ends the run. */
async function runGuarded(
  run: HarnessRun,
  tool: CallableTool,
  call: ToolCall,
  gateCheck: GateCheck | null,
): Promise<ToolOutcome> {
  if (call.inputError !== null) return toolFailure(call.inputError)
  const errors = argumentErrors(inputSchemaOf(tool), call.input)
  if (errors.length > 0) return toolFailure(errors.map(({ path, message }) => `${path} ${message}`).join('; '))
  try {
    return await runGated(run, tool, call.input, gateCheck)
  } catch (error) {
    if (error instanceof RunFailure || run.plane.over.isAborted) throw error
    return toolFailure(errorMessage(error))
  }
}

async function runGated(
  run: HarnessRun,
  tool: CallableTool,
  input: JsonObject,
  gateCheck: GateCheck | null,
): Promise<ToolOutcome> {
  const isPlaneCall = 'target' in tool || planeTools.includes(tool)
  if (gateCheck && isPlaneCall) return tool.run({ ...run, pendingGateCheck: gateCheck }, input)
  if (gateCheck) await passGate(run, gateCheck)
  return tool.run(run, input)
}

/** Clients may read the timeline, so the payload of a gated call and the text of a question are shown only in the approval. */
function shownInput({ name, input }: ToolCall, target: NamedTool | null, gated: boolean): Json {
  if (target?.class === 'ask') return pickFields({ ...target }, 'capability', 'connection')
  if (name === 'act') return pickFields(input, 'capability', 'connection')
  if (name === 'ask_person') return pickFields(input, 'to')
  return gated ? pickFields(input, 'name') : input
}

const targetOf = (tool: CallableTool): NamedTool | null => ('target' in tool ? tool.target : null)

function inputSchemaOf(tool: CallableTool): JsonObject {
  return 'schema' in tool ? tool.schema : { type: 'object', properties: tool.properties, required: tool.required }
}
