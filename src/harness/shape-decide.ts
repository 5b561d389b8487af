import type { Json } from '../base/json.ts'
import type { Conversation } from '../contract/providers/conversation.ts'
import { emitStepStarted, emitTokenDelta } from './agent-events.ts'
import { callModel } from './call-model.ts'
import { acceptLastOutput, type OutputProposal, parseOutputText } from './output.ts'
import { taskPrompt, repairPrompt, systemPrompt } from './prompt.ts'
import type { HarnessRun } from './harness-run.ts'

/** Asks for one structured answer without tools, and once more if it does not match its schema. */
export async function runDecideShape(run: HarnessRun): Promise<Json> {
  const { brief } = run
  const conversation: Conversation = {
    model: brief.model.name,
    system: systemPrompt(brief),
    turns: [{ by: 'user', text: taskPrompt(brief) }],
    tools: [],
    requiredTool: null,
    strictOutput: brief.strict_output ? brief.output_schema : null,
    temperature: brief.temperature,
  }
  emitStepStarted(run.emit, 1, 'Decide')
  const first = await askForOutput(run, conversation)
  if (first.errors.length === 0) return first.value
  conversation.turns.push({ by: 'user', text: repairPrompt(first.errors, brief.shape) })
  emitStepStarted(run.emit, 2, 'Repair')
  return acceptLastOutput(await askForOutput(run, conversation), brief.output_schema)
}

async function askForOutput(run: HarnessRun, conversation: Conversation): Promise<OutputProposal> {
  const { output_schema, model } = run.brief
  // With a schema the text is the output itself; only free text is streamed as events.
  const onText = output_schema === null ? (text: string) => emitTokenDelta(run.emit, text) : () => {}
  const { text } = await callModel(run.plane, model.wire, conversation, onText)
  conversation.turns.push({ by: 'model', text, calls: [] })
  return parseOutputText(text, output_schema)
}
