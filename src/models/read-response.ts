import { tryParseJsonObject, objectField, objectListField, textField } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'

/** One turn of a model, in no provider's words. */
export interface AssistantTurn {
  text: string
  calls: { tool: string; input: JsonObject }[]
}

export interface TurnAssembler {
  add: (frame: JsonObject) => void
  turn: () => AssistantTurn
}

/** Puts an answer together from the frames of its stream. */
export function createTurnAssembler(wire: ModelProvider): TurnAssembler {
  const open: OpenTurn = { text: '', calls: new Map() }
  const hear = wire === 'anthropic' ? addAnthropicEvent : addOpenaiEvent
  return {
    add: (frame) => hear(open, frame),
    turn: () => ({
      text: open.text,
      calls: [...open.calls.values()].map(({ tool, json }) => toAssistantCall(tool, json)),
    }),
  }
}

/** What an assistant's message says, be it a part of a conversation or an answer in one piece. */
export function turnOfMessage(wire: ModelProvider, message: JsonObject): AssistantTurn {
  if (wire === 'openai') {
    const calls = objectListField(message, 'tool_calls').map((call) => objectField(call, 'function'))
    return {
      text: textField(message, 'content'),
      calls: calls.map((f) => toAssistantCall(textField(f, 'name'), textField(f, 'arguments'))),
    }
  }
  const blocks = objectListField(message, 'content')
  const texts = blocks.filter(({ type }) => type === 'text').map((block) => textField(block, 'text'))
  const uses = blocks.filter(({ type }) => type === 'tool_use')
  return {
    text: textField(message, 'content') || texts.join(''),
    calls: uses.map((block) => ({ tool: textField(block, 'name'), input: objectField(block, 'input') })),
  }
}

/** The message in an answer that came in one piece. */
export function messageOfResponse(wire: ModelProvider, answer: JsonObject): JsonObject {
  return wire === 'anthropic' ? answer : objectField(objectListField(answer, 'choices')[0] ?? {}, 'message')
}

interface OpenTurn {
  text: string
  calls: Map<unknown, { tool: string; json: string }>
}

function addAnthropicEvent(open: OpenTurn, frame: JsonObject): void {
  const block = objectField(frame, 'content_block')
  const delta = objectField(frame, 'delta')
  if (frame.type === 'content_block_start' && block.type === 'tool_use') {
    open.calls.set(frame.index, { tool: textField(block, 'name'), json: '' })
  }
  if (frame.type !== 'content_block_delta') return
  open.text += textField(delta, 'text')
  const call = open.calls.get(frame.index)
  if (call) call.json += textField(delta, 'partial_json')
}

function addOpenaiEvent(open: OpenTurn, frame: JsonObject): void {
  const delta = objectField(objectListField(frame, 'choices')[0] ?? {}, 'delta')
  open.text += textField(delta, 'content')
  for (const piece of objectListField(delta, 'tool_calls')) {
    const index = piece.index ?? open.calls.size
    const call = open.calls.get(index) ?? { tool: '', json: '' }
    call.tool += textField(objectField(piece, 'function'), 'name')
    call.json += textField(objectField(piece, 'function'), 'arguments')
    open.calls.set(index, call)
  }
}

function toAssistantCall(tool: string, json: string): { tool: string; input: JsonObject } {
  return { tool, input: tryParseJsonObject(json) ?? {} }
}
