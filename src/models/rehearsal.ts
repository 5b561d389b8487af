import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { Wire } from '../base/protocol.ts'
import { Answer } from '../http/route.ts'
import { objectOf, objectsOf, textOf, tryParse } from '../base/fields.ts'
import { modelFailed, type ModelRun } from './run.ts'
import { fill } from '../base/rehearsal.ts'
import { type Spoken, spokenStream, spokenWhole } from './spoken.ts'

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

/**
 * Plays the wedge's rehearsal of this task type. It remembers nothing: the conversation says how many turns were
 * played. It costs nothing and charges nothing.
 */
export function rehearse(run: ModelRun, wire: Wire, body: JsonObject): Answer {
  const messages = objectsOf(body, 'messages')
  const played = messages.reduce((count, { role }) => count + (role === 'assistant' ? 1 : 0), 0)
  const turn = turnAt(run, played)
  let last: Json | undefined
  const word = (root: string) => {
    if (root === 'input') return run.input
    return root === 'last' ? (last ??= lastResult(wire, messages)) : undefined
  }
  const spoken = speak(turn, `call_${played + 1}`, offersFinish(wire, body), word)
  if (body.stream !== true) return new Answer(200, spokenWhole(wire, spoken))
  // Known whole, it leaves in one write with its length, not as a stream of pieces.
  return new Answer(200, Buffer.from(spokenStream(wire, spoken)), STREAM_HEADERS)
}

function turnAt(run: ModelRun, played: number): JsonObject {
  const { wedge, taskType } = run
  const script = Object.hasOwn(wedge.rehearsals, taskType) ? wedge.rehearsals[taskType] : undefined
  if (script === undefined) {
    const remedy = `set SVC_MODEL or add rehearsals/${taskType}.json`
    throw modelFailed(run, `wedge '${wedge.slug}' has no rehearsal for '${taskType}': ${remedy}`, 400)
  }
  const turns: unknown[] = Array.isArray(script) ? script : []
  // An output that was refused is offered once more: then the task fails for that reason and not for a missing turn.
  const turn = turns[played] ?? turns.at(-1)
  if (isJsonObject(turn) && (played < turns.length || turn.call === undefined)) return turn
  const end = `has no turn ${played + 1}: it must end with an output`
  throw modelFailed(run, `the rehearsal for '${taskType}' of wedge '${wedge.slug}' ${end}`, 400)
}

function speak(turn: JsonObject, id: string, finishes: boolean, word: (root: string) => Json | undefined): Spoken {
  const said = fill(textOf(turn, 'say'), word)
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  if (isJsonObject(turn.call)) {
    const input = fill(turn.call.input ?? {}, word)
    return { text, call: { id, name: textOf(turn.call, 'tool'), input } }
  }
  if (turn.output === undefined) return { text, call: null }
  const output = fill(turn.output, word)
  if (finishes) return { text, call: { id, name: 'finish', input: { output } } }
  // Without the tool the text is the output, so nothing else may stand in it.
  return { text: typeof output === 'string' ? output : JSON.stringify(output), call: null }
}

function offersFinish(wire: Wire, body: JsonObject): boolean {
  const tools = objectsOf(body, 'tools')
  return tools.some((tool) => textOf(wire === 'anthropic' ? tool : objectOf(tool, 'function'), 'name') === 'finish')
}

/** The newest tool result in the conversation: its value if it is JSON, else its text. */
function lastResult(wire: Wire, messages: JsonObject[]): Json {
  if (wire === 'openai') {
    const message = messages.findLast(({ role }) => role === 'tool')
    return message ? valueOf(message.content) : null
  }
  for (const message of messages.toReversed()) {
    const result = objectsOf(message, 'content').findLast(({ type }) => type === 'tool_result')
    if (result) return valueOf(result.content)
  }
  return null
}

function valueOf(content: Json | undefined): Json {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : []
  const text = typeof content === 'string' ? content : blocks.map((block) => textOf(block, 'text')).join('')
  return tryParse(text) ?? text
}
