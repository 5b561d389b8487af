import { FINISH_DESCRIPTION } from '../../platform/contract/plane-tools.ts'
import type { Json } from '../../platform/base/json.ts'
import type {
  Conversation,
  ConversationTurn,
  ToolCallResult,
  ToolSpec,
} from '../../platform/contract/providers/conversation.ts'
import { type OpenTurn, replayTranscript, type TranscriptEntry } from '../../platform/contract/transcript.ts'
import { emitStepStarted, emitTokenDelta } from './agent-events.ts'
import type { ModelMessage } from '../../platform/contract/providers/provider-format.ts'
import { callModel } from './call-model.ts'
import { acceptLastOutput, type OutputProposal, parseFinishCall, parseOutputText } from './output.ts'
import { taskTurn, repairPrompt, revisionPrompt, systemPrompt } from './prompt.ts'
import { replyWithOutput } from './reply.ts'
import { type HarnessRun, RunFailure } from './harness-run.ts'
import { listToolSpecs, executeToolCall } from './tools/tools.ts'

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
  let revisions = 0
  for (let step = past.steps + (open ? 0 : 1); step <= brief.steps + spare + revisions; step++) {
    const turn = open ?? { reply: await requestReply(run, conversation, step), results: [] }
    open = null
    const proposal = await executeTurn(run, conversation, turn)
    if (proposal === 'revise') revisions++
    if (proposal === 'revise' || proposal === 'refused') continue
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
    description: FINISH_DESCRIPTION,
    schema: { type: 'object', properties: { output: output_schema ?? {} }, required: ['output'] },
    strict: strict_output && output_schema !== null,
  }
}

type TurnResult = OutputProposal | 'revise' | 'refused'

/**
 * Executes the calls that have no result yet, in order, and returns the output if the reply has one. `revise`: a person sent
 * the reply in the output back, which costs no step. `refused`: the reply cannot be sent like this.
 */
async function executeTurn(
  run: HarnessRun,
  conversation: Conversation,
  { reply, results }: OpenTurn,
): Promise<TurnResult | null> {
  const { output_schema, shape } = run.brief
  if (reply.calls.length === 0) return executeText(run, conversation, reply.text)
  let proposal: TurnResult | null = null
  for (const call of reply.calls.slice(results.length)) {
    let result: ToolCallResult
    if (call.name !== 'finish' || call.inputError !== null) result = await executeToolCall(run, call)
    else {
      const finished: OutputProposal = parseFinishCall(call.input, output_schema)
      const replied = finished.errors.length === 0 ? await replyWithOutput(run, finished.value) : null
      // The last result of the run has no reader.
      if (replied && 'output' in replied) return { value: replied.output, errors: [] }
      proposal = replied ? toTurnResult(replied) : finished
      const content = replied ? revisionPrompt(replied.note, shape) : repairPrompt(finished.errors, shape)
      result = { id: call.id, ok: false, content }
    }
    results.push(result)
    run.emit({ turn: { by: 'tool', result } })
  }
  conversation.turns.push({ by: 'tools', results })
  return proposal
}

/** A reply of the model without a call: its text is the output. */
async function executeText(run: HarnessRun, conversation: Conversation, text: string): Promise<TurnResult> {
  const { output_schema, shape } = run.brief
  const proposal = parseOutputText(text, output_schema)
  if (proposal.errors.length > 0) {
    record(run, conversation, { by: 'user', text: repairPrompt(proposal.errors, shape) })
    return proposal
  }
  const replied = await replyWithOutput(run, proposal.value)
  if ('output' in replied) return { value: replied.output, errors: [] }
  record(run, conversation, { by: 'user', text: revisionPrompt(replied.note, shape) })
  return toTurnResult(replied)
}

const toTurnResult = ({ isFromPerson }: { isFromPerson: boolean }): TurnResult => (isFromPerson ? 'revise' : 'refused')
