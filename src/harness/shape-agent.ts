import type { Json } from '../base/json.ts'
import type { Conversation, ConversationTurn, ToolCallResult, ToolSpec } from '../contract/providers/conversation.ts'
import { type OpenTurn, replayTranscript, type TranscriptEntry } from '../contract/transcript.ts'
import { emitStepStarted, emitTokenDelta } from './agent-events.ts'
import type { ModelMessage } from '../contract/providers/provider-format.ts'
import { callModel } from './call-model.ts'
import { acceptLastOutput, type OutputProposal, parseFinishCall, parseOutputText } from './output.ts'
import { taskTurn, repairPrompt, systemPrompt } from './prompt.ts'
import { type HarnessRun, RunFailure } from './harness-run.ts'
import { listToolSpecs, executeToolCall } from './tools.ts'

/**
 * Calls the model and its tools in turns until the model finishes. An output that does not match its schema gets one
 * repair turn, even after the last step; the next output is returned as it is, because the service validates it. A run
 * that continues in this process begins after the last entry of its transcript.
 */
export async function runAgentShape(run: HarnessRun): Promise<Json> {
  const { brief } = run
  const past = replayTranscript(brief.transcript?.entries ?? [])
  const conversation = startConversation(run, past.turns)
  let { open } = past
  let spare = past.hasRepair ? 1 : 0
  for (let step = past.steps + (open ? 0 : 1); step <= brief.steps + spare; step++) {
    const turn = open ?? { reply: await requestReply(run, conversation, step), results: [] }
    open = null
    const proposal = await executeTurn(run, conversation, turn)
    if (proposal?.errors.length === 0) return proposal.value
    if (proposal && spare > 0) return acceptLastOutput(proposal, brief.output_schema)
    if (proposal) spare = 1
  }
  throw new RunFailure(`no output after ${brief.steps} steps`)
}

async function requestReply(run: HarnessRun, conversation: Conversation, step: number): Promise<ModelMessage> {
  const { brief } = run
  emitStepStarted(run, step, `Step ${step}`)
  conversation.requiredTool = step >= brief.steps ? 'finish' : null
  const reply = await callModel(run.plane, brief.model.wire, conversation, (text) => emitTokenDelta(run.emit, text))
  record(run, conversation, { by: 'model', text: reply.text, calls: reply.calls })
  return reply
}

/** Adds a whole turn to the conversation and an entry to the stored transcript. */
function record(run: HarnessRun, conversation: Conversation, entry: Exclude<TranscriptEntry, { by: 'tool' }>): void {
  conversation.turns.push(entry)
  run.emit({ turn: entry })
}

function startConversation({ brief }: HarnessRun, turns: ConversationTurn[]): Conversation {
  return {
    model: brief.model.name,
    system: systemPrompt(brief),
    turns: [taskTurn(brief), ...turns],
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

/** Executes the calls that have no result yet, in order, and returns the output if the reply has one. */
async function executeTurn(
  run: HarnessRun,
  conversation: Conversation,
  { reply, results }: OpenTurn,
): Promise<OutputProposal | null> {
  const { output_schema, shape } = run.brief
  if (reply.calls.length === 0) {
    const proposal = parseOutputText(reply.text, output_schema)
    if (proposal.errors.length > 0)
      record(run, conversation, { by: 'user', text: repairPrompt(proposal.errors, shape) })
    return proposal
  }
  let proposal: OutputProposal | null = null
  for (const call of reply.calls.slice(results.length)) {
    let result: ToolCallResult
    if (call.name !== 'finish' || call.inputError !== null) result = await executeToolCall(run, call)
    else {
      proposal = parseFinishCall(call.input, output_schema)
      // The last result of the run has no reader.
      if (proposal.errors.length === 0) return proposal
      result = { id: call.id, ok: false, content: repairPrompt(proposal.errors, shape) }
    }
    results.push(result)
    run.emit({ turn: { by: 'tool', result } })
  }
  conversation.turns.push({ by: 'tools', results })
  return proposal
}
