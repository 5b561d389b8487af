import type { Json } from '../../platform/base/json.ts'
import type { Conversation } from '../../platform/contract/providers/conversation.ts'
import { emitStepStarted, emitTokenDelta } from './agent-events.ts'
import { callModel } from './call-model.ts'
import { acceptLastOutput, type OutputProposal, parseOutputText } from './output.ts'
import { taskTurn, repairPrompt, revisionPrompt, systemPrompt } from './prompt.ts'
import { replyWithOutput } from './reply.ts'
import { type HarnessRun, RunFailure } from './harness-run.ts'

/**
 * Asks for one structured answer without tools, and once more if it does not match its schema. A run that continues in
 * this process takes the answers of its transcript.
 */
export async function runDecideShape(run: HarnessRun): Promise<Json> {
  const { brief } = run
  const conversation: Conversation = {
    model: brief.model.name,
    system: systemPrompt(brief),
    turns: [taskTurn(brief)],
    tools: [],
    requiredTool: null,
    strictOutput: brief.strict_output ? brief.output_schema : null,
    temperature: brief.temperature,
  }
  const replies = (brief.transcript?.entries ?? []).flatMap((entry) => (entry.by === 'model' ? [entry.text] : []))
  for (let refusals = 0; refusals < MAX_REFUSALS; ) {
    const proposal = await readAndRepair(run, conversation, replies)
    if (proposal.errors.length > 0) return acceptLastOutput(proposal, brief.output_schema)
    const replied = await replyWithOutput(run, proposal.value)
    if ('output' in replied) return replied.output
    if (!replied.isFromPerson) refusals++
    conversation.turns.push({ by: 'user', text: revisionPrompt(replied.note, brief.shape) })
  }
  throw new RunFailure('the reply cannot be sent')
}

/** How often the service may refuse the reply, for example because it is too long for the channel. */
const MAX_REFUSALS = 3

async function readAndRepair(run: HarnessRun, conversation: Conversation, replies: string[]): Promise<OutputProposal> {
  const first = await readOutput(run, conversation, 'Decide', replies)
  if (first.errors.length === 0) return first
  conversation.turns.push({ by: 'user', text: repairPrompt(first.errors, run.brief.shape) })
  return readOutput(run, conversation, 'Repair', replies)
}

/** The output of the next stored reply, or of a new one. */
async function readOutput(
  run: HarnessRun,
  conversation: Conversation,
  step: 'Decide' | 'Repair',
  replies: string[],
): Promise<OutputProposal> {
  const text = replies.shift() ?? (await requestText(run, conversation, step))
  conversation.turns.push({ by: 'model', text, calls: [] })
  return parseOutputText(text, run.brief.output_schema)
}

async function requestText(run: HarnessRun, conversation: Conversation, step: 'Decide' | 'Repair'): Promise<string> {
  const { output_schema, model } = run.brief
  emitStepStarted(run, step === 'Decide' ? 1 : 2, step)
  // With a schema the text is the output itself; only free text is streamed as events.
  const onText = output_schema === null ? (text: string) => emitTokenDelta(run.emit, text) : () => {}
  const { text } = await callModel(run.plane, model.wire, conversation, onText)
  run.emit({ turn: { by: 'model', text, calls: [] } })
  return text
}
