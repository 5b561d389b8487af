import type { Json } from '../base/json.ts'
import type { Conversation } from './conversation.ts'
import { startStep, streamText } from './events.ts'
import { askModel } from './model.ts'
import { lastWord, type Proposal, proposalFromText } from './output.ts'
import { assignment, complaint, systemPrompt } from './prompt.ts'
import type { Run } from './run.ts'

/** One structured answer without tools, and one more try when it does not match. */
export async function decide(run: Run): Promise<Json> {
  const { brief } = run
  const conversation: Conversation = {
    model: brief.model.name,
    system: systemPrompt(brief),
    turns: [{ by: 'user', text: assignment(brief) }],
    tools: [],
    must: null,
    strictOutput: brief.strict_output ? brief.output_schema : null,
    temperature: brief.temperature,
  }
  startStep(run.emit, 1, 'Decide')
  const first = await answer(run, conversation)
  if (first.errors.length === 0) return first.value
  conversation.turns.push({ by: 'user', text: complaint(first.errors, brief.shape) })
  startStep(run.emit, 2, 'Repair')
  return lastWord(await answer(run, conversation), brief.output_schema)
}

async function answer(run: Run, conversation: Conversation): Promise<Proposal> {
  const { output_schema, model } = run.brief
  // With a schema the text is the output itself and arrives as such; only free text is worth watching as it grows.
  const onText = output_schema === null ? (text: string) => streamText(run.emit, text) : () => {}
  const { text } = await askModel(run.plane, model.wire, conversation, onText)
  conversation.turns.push({ by: 'model', text, calls: [] })
  return proposalFromText(text, output_schema)
}
