import { objectIn, objectOf, objectsOf, textOf } from '../base/fields.ts'
import type { JsonObject } from '../base/json.ts'
import type { Wire } from '../base/protocol.ts'

/** One turn of a model, in no provider's words. */
export interface Said {
  text: string
  calls: { tool: string; input: JsonObject }[]
}

export interface Listener {
  hear: (frame: JsonObject) => void
  said: () => Said
}

/** Puts an answer together from the frames of its stream. */
export function listener(wire: Wire): Listener {
  const open: OpenAnswer = { text: '', calls: new Map() }
  const hear = wire === 'anthropic' ? hearAnthropic : hearOpenai
  return {
    hear: (frame) => hear(open, frame),
    said: () => ({ text: open.text, calls: [...open.calls.values()].map(({ tool, json }) => callOf(tool, json)) }),
  }
}

/** What an assistant's message says, be it a part of a conversation or an answer in one piece. */
export function saidIn(wire: Wire, message: JsonObject): Said {
  if (wire === 'openai') {
    const calls = objectsOf(message, 'tool_calls').map((call) => objectOf(call, 'function'))
    return {
      text: textOf(message, 'content'),
      calls: calls.map((f) => callOf(textOf(f, 'name'), textOf(f, 'arguments'))),
    }
  }
  const blocks = objectsOf(message, 'content')
  const texts = blocks.filter(({ type }) => type === 'text').map((block) => textOf(block, 'text'))
  const uses = blocks.filter(({ type }) => type === 'tool_use')
  return {
    text: textOf(message, 'content') || texts.join(''),
    calls: uses.map((block) => ({ tool: textOf(block, 'name'), input: objectOf(block, 'input') })),
  }
}

/** The message in an answer that came in one piece. */
export function messageOf(wire: Wire, answer: JsonObject): JsonObject {
  return wire === 'anthropic' ? answer : objectOf(objectsOf(answer, 'choices')[0] ?? {}, 'message')
}

interface OpenAnswer {
  text: string
  calls: Map<unknown, { tool: string; json: string }>
}

function hearAnthropic(open: OpenAnswer, frame: JsonObject): void {
  const block = objectOf(frame, 'content_block')
  const delta = objectOf(frame, 'delta')
  if (frame.type === 'content_block_start' && block.type === 'tool_use') {
    open.calls.set(frame.index, { tool: textOf(block, 'name'), json: '' })
  }
  if (frame.type !== 'content_block_delta') return
  open.text += textOf(delta, 'text')
  const call = open.calls.get(frame.index)
  if (call) call.json += textOf(delta, 'partial_json')
}

function hearOpenai(open: OpenAnswer, frame: JsonObject): void {
  const delta = objectOf(objectsOf(frame, 'choices')[0] ?? {}, 'delta')
  open.text += textOf(delta, 'content')
  for (const piece of objectsOf(delta, 'tool_calls')) {
    const index = piece.index ?? open.calls.size
    const call = open.calls.get(index) ?? { tool: '', json: '' }
    call.tool += textOf(objectOf(piece, 'function'), 'name')
    call.json += textOf(objectOf(piece, 'function'), 'arguments')
    open.calls.set(index, call)
  }
}

function callOf(tool: string, json: string): { tool: string; input: JsonObject } {
  return { tool, input: objectIn(json) ?? {} }
}
