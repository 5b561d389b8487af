import type { Json, JsonObject } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import type { Brief } from '../base/protocol.ts'
import { schemaErrors } from '../base/schema.ts'
import { commandTool } from './command-tool.ts'
import { RunFailed, type ToolCall, type ToolResult, type ToolSpec } from './conversation.ts'
import { cutText, sayProgress, toolCalled, toolResult } from './events.ts'
import { pick, textOf } from '../base/fields.ts'
import { fileTools } from './file-tools.ts'
import { gateQuestion, passGate } from './gate.ts'
import { planeTools } from './plane-tools.ts'
import type { GateQuestion, Run } from './run.ts'
import { failed, type Outcome, type Tool } from './tool.ts'

/** Of one result; more would crowd out everything else that the model should keep in mind. */
const LONGEST_CONTENT = 200_000

const progressTool: Tool = {
  name: 'progress',
  description:
    'Tells the people who follow the task what you are doing. A customer may be among them: nothing internal.',
  properties: { text: { type: 'string' } },
  required: ['text'],
  async run(run, input) {
    sayProgress(run.emit, textOf(input, 'text'))
    return { ok: true, output: 'noted' }
  },
}

const TOOLS: Tool[] = [...planeTools, ...fileTools, commandTool, progressTool]

export function toolSpecs(brief: Brief): ToolSpec[] {
  return TOOLS.filter(({ name }) => brief.tools.includes(name)).map((tool) => ({
    name: tool.name,
    description: tool.description,
    schema: schemaOf(tool),
    strict: false,
  }))
}

/** Executes a call of the model and answers with what the model is to read. */
export async function useTool(run: Run, call: ToolCall): Promise<ToolResult> {
  const tool = run.brief.tools.includes(call.name) ? TOOLS.find(({ name }) => name === call.name) : undefined
  const outcome = tool ? await execute(run, tool, call) : refuse(run, call)
  const said = outcome.ok ? outcome.output : (outcome.output ?? { error: outcome.error })
  const content = cutText(typeof said === 'string' ? said : JSON.stringify(said), LONGEST_CONTENT)
  return { id: call.id, ok: outcome.ok, content }
}

/** Asks the gate where needed and leaves the two lines of the timeline, however the call ends. */
export async function execute(run: Run, tool: Tool, call: ToolCall): Promise<Outcome> {
  if (tool === progressTool && call.broken === null) return guarded(run, tool, call, null)
  const question = gateQuestion(run.brief, call)
  toolCalled(run.emit, call, shownInput(call, question !== null))
  const outcome = await guarded(run, tool, call, question)
  if (outcome.ok) toolResult(run.emit, call, true, outcome.shown ?? outcome.output)
  else toolResult(run.emit, call, false, outcome.error)
  return outcome
}

function refuse(run: Run, call: ToolCall): Outcome {
  const error = call.broken ?? `there is no tool '${call.name}'`
  toolCalled(run.emit, call, {})
  toolResult(run.emit, call, false, error)
  return failed(error)
}

/** What goes wrong inside a tool is the model's to know; only a RunFailed ends the run. */
async function guarded(run: Run, tool: Tool, call: ToolCall, question: GateQuestion | null): Promise<Outcome> {
  if (call.broken !== null) return failed(call.broken)
  const errors = schemaErrors(schemaOf(tool), call.input)
  if (errors.length > 0) return failed(errors.map(({ path, message }) => `${path} ${message}`).join('; '))
  try {
    return await gated(run, tool, call.input, question)
  } catch (error) {
    if (error instanceof RunFailed || run.plane.over.isAborted) throw error
    return failed(messageOf(error))
  }
}

async function gated(run: Run, tool: Tool, input: JsonObject, question: GateQuestion | null): Promise<Outcome> {
  if (question && planeTools.includes(tool)) return tool.run({ ...run, gate: question }, input)
  if (question) await passGate(run, question)
  return tool.run(run, input)
}

/** Customers read the timeline too: the payload of a gated call is for the approval only. */
function shownInput({ name, input }: ToolCall, gated: boolean): Json {
  if (name === 'act') return pick(input, 'capability', 'connection')
  return gated ? pick(input, 'name') : input
}

function schemaOf({ properties, required }: Tool): JsonObject {
  return { type: 'object', properties, required }
}
