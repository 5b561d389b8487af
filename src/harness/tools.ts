import type { Json, JsonObject } from '../base/json.ts'
import { errorMessage } from '../base/error-message.ts'
import type { Brief } from '../contract/agent-protocol.ts'
import { schemaErrors } from '../contract/output-schema.ts'
import { commandTool } from './command-tool.ts'
import type { ToolCall, ToolCallResult, ToolSpec } from '../contract/providers/conversation.ts'
import { truncateText, emitProgress, emitToolCalled, emitToolResult } from './agent-events.ts'
import { pickFields, textField } from '../base/json-fields.ts'
import { fileTools } from './file-tools.ts'
import { requiredGateCheck, passGate } from './tool-gate.ts'
import { planeTools } from './plane-tools.ts'
import { type GateCheck, type HarnessRun, RunFailure } from './harness-run.ts'
import { toolFailure, type ToolOutcome, type HarnessTool } from './tool.ts'

/** Of one result; more would crowd out everything else that the model should keep in mind. */
const MAX_RESULT_CHARS = 200_000

const progressTool: HarnessTool = {
  name: 'progress',
  description:
    'Tells the people who follow the task what you are doing. A customer may be among them: nothing internal.',
  properties: { text: { type: 'string' } },
  required: ['text'],
  async run(run, input) {
    emitProgress(run.emit, textField(input, 'text'))
    return { ok: true, output: 'noted' }
  },
}

const TOOLS: HarnessTool[] = [...planeTools, ...fileTools, commandTool, progressTool]

export function listToolSpecs(brief: Brief): ToolSpec[] {
  return TOOLS.filter(({ name }) => brief.tools.includes(name)).map((tool) => ({
    name: tool.name,
    description: tool.description,
    schema: inputSchemaOf(tool),
    strict: false,
  }))
}

/** Executes a call of the model and answers with what the model is to read. */
export async function executeToolCall(run: HarnessRun, call: ToolCall): Promise<ToolCallResult> {
  const tool = run.brief.tools.includes(call.name) ? TOOLS.find(({ name }) => name === call.name) : undefined
  const outcome = tool ? await runHarnessTool(run, tool, call) : refuseCall(run, call)
  const said = outcome.ok ? outcome.output : (outcome.output ?? { error: outcome.error })
  const content = truncateText(typeof said === 'string' ? said : JSON.stringify(said), MAX_RESULT_CHARS)
  return { id: call.id, ok: outcome.ok, content }
}

/** Asks the gate where needed and leaves the two lines of the timeline, however the call ends. */
export async function runHarnessTool(run: HarnessRun, tool: HarnessTool, call: ToolCall): Promise<ToolOutcome> {
  if (tool === progressTool && call.inputError === null) return runGuarded(run, tool, call, null)
  const question = requiredGateCheck(run.brief, call)
  emitToolCalled(run.emit, call, shownInput(call, question !== null))
  const outcome = await runGuarded(run, tool, call, question)
  if (outcome.ok) emitToolResult(run.emit, call, true, outcome.shown ?? outcome.output)
  else emitToolResult(run.emit, call, false, outcome.error)
  return outcome
}

function refuseCall(run: HarnessRun, call: ToolCall): ToolOutcome {
  const error = call.inputError ?? `there is no tool '${call.name}'`
  emitToolCalled(run.emit, call, {})
  emitToolResult(run.emit, call, false, error)
  return toolFailure(error)
}

/** What goes wrong inside a tool is the model's to know; only a RunFailed ends the run. */
async function runGuarded(
  run: HarnessRun,
  tool: HarnessTool,
  call: ToolCall,
  question: GateCheck | null,
): Promise<ToolOutcome> {
  if (call.inputError !== null) return toolFailure(call.inputError)
  const errors = schemaErrors(inputSchemaOf(tool), call.input)
  if (errors.length > 0) return toolFailure(errors.map(({ path, message }) => `${path} ${message}`).join('; '))
  try {
    return await runGated(run, tool, call.input, question)
  } catch (error) {
    if (error instanceof RunFailure || run.plane.over.isAborted) throw error
    return toolFailure(errorMessage(error))
  }
}

async function runGated(
  run: HarnessRun,
  tool: HarnessTool,
  input: JsonObject,
  question: GateCheck | null,
): Promise<ToolOutcome> {
  if (question && planeTools.includes(tool)) return tool.run({ ...run, pendingGateCheck: question }, input)
  if (question) await passGate(run, question)
  return tool.run(run, input)
}

/** Customers read the timeline too: the payload of a gated call is for the approval only. */
function shownInput({ name, input }: ToolCall, gated: boolean): Json {
  if (name === 'act') return pickFields(input, 'capability', 'connection')
  return gated ? pickFields(input, 'name') : input
}

function inputSchemaOf({ properties, required }: HarnessTool): JsonObject {
  return { type: 'object', properties, required }
}
