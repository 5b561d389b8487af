import type { Json } from '../base/json.ts'
import { type Conversation, RunFailed, type ToolResult, type ToolSpec } from './conversation.ts'
import { startStep, streamText } from './events.ts'
import { askModel, type ModelAnswer } from './model.ts'
import { lastWord, type Proposal, proposalFromFinish, proposalFromText } from './output.ts'
import { assignment, complaint, systemPrompt } from './prompt.ts'
import type { Run } from './run.ts'
import { toolSpecs, useTool } from './tools.ts'

/**
 * Turns of model and tools until the model finishes. An output that does not match gets one repair turn, also when the
 * steps are used up; after that it is handed over as it is, because the service has the last word on it.
 */
export async function work(run: Run): Promise<Json> {
  const { brief } = run
  const conversation = opening(run)
  let spare = 0
  for (let step = 1; step <= brief.steps + spare; step++) {
    startStep(run.emit, step, step === 1 ? 'Work' : `Turn ${step}`)
    conversation.must = step >= brief.steps ? 'finish' : null
    const answer = await askModel(run.plane, brief.model.wire, conversation, (text) => streamText(run.emit, text))
    const proposal = await takeTurn(run, conversation, answer)
    if (proposal?.errors.length === 0) return proposal.value
    if (proposal && spare > 0) return lastWord(proposal, brief.output_schema)
    if (proposal) spare = 1
  }
  throw new RunFailed(`no output after ${brief.steps} steps`)
}

function opening({ brief }: Run): Conversation {
  return {
    model: brief.model.name,
    system: systemPrompt(brief),
    turns: [{ by: 'user', text: assignment(brief) }],
    tools: [...toolSpecs(brief), finishSpec(brief)],
    must: null,
    strictOutput: null,
    temperature: brief.temperature,
  }
}

function finishSpec({ output_schema, strict_output }: Run['brief']): ToolSpec {
  return {
    name: 'finish',
    description: 'Ends the task with its output. Call it once, when everything else is done.',
    schema: { type: 'object', properties: { output: output_schema ?? {} }, required: ['output'] },
    strict: strict_output && output_schema !== null,
  }
}

/** Executes the calls in order, writes the turn into the conversation and returns the output if one was offered. */
async function takeTurn(run: Run, conversation: Conversation, answer: ModelAnswer): Promise<Proposal | null> {
  const { output_schema, shape } = run.brief
  conversation.turns.push({ by: 'model', text: answer.text, calls: answer.calls })
  if (answer.calls.length === 0) {
    const proposal = proposalFromText(answer.text, output_schema)
    conversation.turns.push({ by: 'user', text: complaint(proposal.errors, shape) })
    return proposal
  }
  const results: ToolResult[] = []
  let proposal: Proposal | null = null
  for (const call of answer.calls) {
    if (call.name !== 'finish' || call.broken !== null) {
      results.push(await useTool(run, call))
      continue
    }
    proposal = proposalFromFinish(call.input, output_schema)
    results.push({ id: call.id, ok: false, content: complaint(proposal.errors, shape) })
  }
  conversation.turns.push({ by: 'tools', results })
  return proposal
}
