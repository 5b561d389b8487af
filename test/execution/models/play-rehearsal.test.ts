import { describe, expect, test } from 'vitest'
import { errorMessageIn } from '../../../src/platform/base/json-fields.ts'
import type { Json, JsonObject } from '../../../src/platform/base/json.ts'
import type { ModelProvider } from '../../../src/platform/contract/agent-protocol.ts'
import type { Conversation } from '../../../src/platform/contract/providers/conversation.ts'
import { PROVIDER_FORMATS } from '../../../src/platform/contract/providers/provider-formats.ts'
import { callModel } from '../../../src/programs/harness/call-model.ts'
import { type ModelProxy, openModelProxy, planeClientOf, wedgeWithRehearsals } from './model-proxy.ts'

let proxy: ModelProxy

const SCRIPT: Json = [
  {
    say: 'Order {{input.order}} first.',
    call: { tool: 'records_get', input: { key: '{{ input.order }}', tags: ['{{input.tags.1}}'] } },
  },
  {
    call: {
      tool: 'act',
      input: { payload: '{{last.value}}', none: '{{last.nothing.here}}', text: '>{{last.none}}< {{last}}' },
    },
  },
  { say: 'Done.', output: { amount: '{{last.amount}}', words: '{{last.amount}} USD' } },
]

const FINISH = {
  anthropic: { tools: [{ name: 'finish', input_schema: {} }] },
  openai: { tools: [{ type: 'function', function: { name: 'finish' } }] },
}

/** A request after this number of turns, with the result of the last tool call. */
function after(wire: ModelProvider, turns: number, result: string): JsonObject {
  const messages: JsonObject[] = [{ role: 'user', content: 'Do it.' }]
  for (let turn = 1; turn <= turns; turn++) {
    const content = turn === turns ? result : '"an older result"'
    const anthropic = { role: 'user', content: [{ type: 'tool_result', tool_use_id: `call_${turn}`, content }] }
    const openai = { role: 'tool', tool_call_id: `call_${turn}`, content }
    messages.push({ role: 'assistant', content: '…' }, wire === 'anthropic' ? anthropic : openai)
  }
  return { stream: false, messages, ...FINISH[wire] }
}

/** The model's reply, independent of the provider. */
function parseReply(wire: ModelProvider, body: JsonObject) {
  const { text, calls } = PROVIDER_FORMATS[wire].parseResponse(body)
  return { text, calls: calls.map(({ name, input }) => ({ tool: name, input })) }
}

describe.each(['anthropic', 'openai'] as const)('rehearsal, %s format', (wire) => {
  const open = async (script: Json = SCRIPT) => {
    proxy = await openModelProxy(
      {},
      { wedge: wedgeWithRehearsals({ triage: script }), input: { order: 7, tags: ['a', 'b'] } },
    )
  }
  const play = async (body: JsonObject) => parseReply(wire, (await proxy.call(body, { wire })).body)

  test('the next turn of the conversation is played, with the input and the last result filled in', async () => {
    await open()
    expect(await play(after(wire, 0, ''))).toEqual({
      text: 'Order 7 first.',
      calls: [{ tool: 'records_get', input: { key: 7, tags: ['b'] } }],
    })
    expect(await play(after(wire, 1, '{"value":{"amount":5}}'))).toEqual({
      text: '',
      calls: [{ tool: 'act', input: { payload: { amount: 5 }, none: null, text: '>< {"value":{"amount":5}}' } }],
    })
    expect(await play(after(wire, 2, '{"amount":5}'))).toEqual({
      text: 'Done.',
      calls: [{ tool: 'finish', input: { output: { amount: 5, words: '5 USD' } } }],
    })
  })

  test('every turn has its own id', async () => {
    await open()
    const idOf = async (turns: number) => (await proxy.call(after(wire, turns, '{}'), { wire })).body['id']
    const ids = [await idOf(0), await idOf(1), await idOf(2), await idOf(0)]
    expect(new Set(ids).size).toBe(3)
    expect(ids[3]).toBe(ids[0])
  })

  test('a tool result that is not JSON is used as text', async () => {
    await open([{ call: { tool: 'a', input: {} } }, { output: '{{last}}' }])
    expect((await play(after(wire, 1, 'plain words'))).calls).toEqual([
      { tool: 'finish', input: { output: 'plain words' } },
    ])
  })

  test('without a finish tool the output is text', async () => {
    await open([{ say: 'never mixed in', output: { step: 'remind' } }])
    expect(await play({ stream: false, messages: [] })).toEqual({ text: '{"step":"remind"}', calls: [] })
  })

  test('a refused output is repeated once', async () => {
    await open()
    expect((await play(after(wire, 3, '{"amount":5}'))).calls[0]?.tool).toBe('finish')
  })

  test('a rehearsal costs nothing and is not charged', async () => {
    await open()
    await proxy.call({ ...after(wire, 0, ''), stream: true }, { wire })
    expect(await proxy.charges()).toEqual([])
    expect(proxy.run).toMatchObject({ spentMicros: 0, reservedMicros: 0, failure: null })
  })

  test('a rehearsed stream has the events that clients of the provider expect', async () => {
    await open()
    const response = await proxy.call({ ...after(wire, 0, ''), stream: true }, { wire })
    expect(response.headers['content-type']).toMatch(/^text\/event-stream/)
    const events = response.text
      .split('\n\n')
      .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: {')))
      .map((line) => JSON.parse(line.slice(6)))
    expect(events.length).toBeGreaterThan(0)
    expect(response.text).toContain('Order 7 first.')
    expect(response.text.trimEnd()).toMatch(wire === 'anthropic' ? /"message_stop"}$/ : /\[DONE\]$/)
  })

  test('the harness understands a rehearsed reply', async () => {
    await open()
    const conversation: Conversation = {
      model: 'rehearsal',
      system: '',
      turns: [{ by: 'user', text: 'Do it.' }],
      tools: [{ name: 'finish', description: '', schema: {}, strict: false }],
      requiredTool: null,
      strictOutput: null,
      temperature: null,
    }
    let text = ''
    const plane = planeClientOf(proxy)
    const answer = await callModel(plane, wire, conversation, (piece) => {
      text += piece
    })
    const input = { key: 7, tags: ['b'] }
    expect(answer.calls).toEqual([{ id: 'call_1', name: 'records_get', input, inputError: null }])
    expect([answer.text, text]).toEqual(['Order 7 first.', 'Order 7 first.'])
  })

  test('without a script the error says what to do', async () => {
    proxy = await openModelProxy({})
    const sentence = "wedge 'refunds' has no rehearsal for 'triage': set SVC_MODEL or add rehearsals/triage.json"
    expect(await proxy.call({ messages: [] }, { wire })).toMatchObject({
      status: 400,
      body: { error: { message: sentence } },
    })
    expect(proxy.run.failure).toEqual({ reason: 'model_failed', message: `model failed: ${sentence}` })
  })

  test.each<[string, Json]>([
    ['ends without an output', [{ call: { tool: 'a', input: {} } }]],
    ['is empty', []],
    ['is not a list', { say: 'hi' }],
  ])('a script that %s fails at the missing turn', async (_, script) => {
    await open(script)
    const response = await proxy.call(after(wire, 1, '{}'), { wire })
    expect(response.status).toBe(400)
    expect(errorMessageIn(response.body)).toMatch(/has no turn 2: it must end with an output$/)
  })
})
