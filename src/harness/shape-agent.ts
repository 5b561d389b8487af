import type { Json } from '../base/json.ts'
import type { Conversation, ToolCallResult, ToolSpec } from '../contract/providers/conversation.ts'
import { emitStepStarted, emitTokenDelta } from './agent-events.ts'
import type { ModelMessage } from '../contract/providers/provider-format.ts'
import { callModel } from './call-model.ts'
import { acceptLastOutput, type OutputProposal, parseFinishCall, parseOutputText } from './output.ts'
import { taskPrompt, repairPrompt, systemPrompt } from './prompt.ts'
import { type HarnessRun, RunFailure } from './harness-run.ts'
import { listToolSpecs, executeToolCall } from './tools.ts'

/**
 * Turns of model and tools until the model finishes. An output that does not match gets one repair turn, also when the
 * steps are used up; after that it is handed over as it is, because the service has the last word on it.
 */
export async function runAgentShape(run: HarnessRun): Promise<Json> {
  const { brief } = run
  const conversation = startConversation(run)
  let spare = 0
  for (let step = 1; step <= brief.steps + spare; step++) {
    emitStepStarted(run.emit, step, `Step ${step}`)
    conversation.requiredTool = step >= brief.steps ? 'finish' : null
    const answer = await callModel(run.plane, brief.model.wire, conversation, (text) => emitTokenDelta(run.emit, text))
    const proposal = await executeTurn(run, conversation, answer)
    if (proposal?.errors.length === 0) return proposal.value
    if (proposal && spare > 0) return acceptLastOutput(proposal, brief.output_schema)
    if (proposal) spare = 1
  }
  throw new RunFailure(`no output after ${brief.steps} steps`)
}

function startConversation({ brief }: HarnessRun): Conversation {
  return {
    model: brief.model.name,
    system: systemPrompt(brief),
    turns: [{ by: 'user', text: taskPrompt(brief) }],
    tools: [...listToolSpecs(brief), finishSpec(brief)],
    requiredTool: null,
    strictOutput: null,
    temperature: brief.temperature,
  }
}

function finishSpec({ output_schema, strict_output }: HarnessRun['brief']): ToolSpec {
  return {
    name: 'finish',
    description: 'Ends the task with its output. Call it once, when everything else is done.',
    schema: { type: 'object', properties: { output: output_schema ?? {} }, required: ['output'] },
    strict: strict_output && output_schema !== null,
  }
}

/** Executes the calls in order, writes the turn into the conversation and returns the output if one was offered. */
async function executeTurn(
  run: HarnessRun,
  conversation: Conversation,
  answer: ModelMessage,
): Promise<OutputProposal | null> {
  const { output_schema, shape } = run.brief
  conversation.turns.push({ by: 'model', text: answer.text, calls: answer.calls })
  if (answer.calls.length === 0) {
    const proposal = parseOutputText(answer.text, output_schema)
    conversation.turns.push({ by: 'user', text: repairPrompt(proposal.errors, shape) })
    return proposal
  }
  const results: ToolCallResult[] = []
  let proposal: OutputProposal | null = null
  for (const call of answer.calls) {
    if (call.name !== 'finish' || call.inputError !== null) {
      results.push(await executeToolCall(run, call))
      continue
    }
    proposal = parseFinishCall(call.input, output_schema)
    results.push({ id: call.id, ok: false, content: repairPrompt(proposal.errors, shape) })
  }
  conversation.turns.push({ by: 'tools', results })
  return proposal
}
