import { afterEach, describe, expect, test } from 'vitest'
import type { ModelProvider } from '../../../src/platform/contract/agent-protocol.ts'
import { eventData, runOneBrief } from './in-process-cell.ts'
import {
  testBrief,
  type ScriptedModelTurn,
  type FakePlane,
  scriptedModel,
  type FakePlaneReply,
  modelStream,
  startFakePlane,
} from './fake-plane.ts'

let plane: FakePlane | undefined
afterEach(async () => {
  plane?.close()
  plane = undefined
})

const WIRES: ModelProvider[] = ['anthropic', 'openai']

async function ask(wire: ModelProvider, reply: FakePlaneReply, shape: 'agent' | 'decide' = 'decide') {
  plane = startFakePlane(() => reply)
  return runOneBrief(plane, testBrief({ shape, steps: 1, model: { wire, name: 'm' } }))
}

function inPieces(text: string, size: number): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size))
  return pieces
}

describe.each(WIRES)('model replies, %s format', (wire) => {
  const words = 'Grüße, 你好 🎉 and "quotes"'

  test.each([1, 7, 64, 4096])('a reply in chunks of %i characters is read completely', async (size) => {
    const lines = await ask(wire, { chunks: inPieces(modelStream(wire, { text: words }), size) })
    expect(lines.at(-1)).toEqual({ run: 'r1', output: words })
    const streamed = eventData(lines, 'token.delta').map((data) => (data as { text: string }).text)
    expect(streamed.join('')).toBe(words)
  })

  test('the text of one chunk is one token.delta event', async () => {
    const lines = await ask(wire, { chunks: [modelStream(wire, { text: words })] })
    expect(eventData(lines, 'token.delta')).toEqual([{ text: words }])
  })

  test('a stream with carriage returns and comments is read', async () => {
    const text = `: keep-alive\r\n\r\n${modelStream(wire, { text: 'fine' }).replaceAll('\n', '\r\n')}`
    const lines = await ask(wire, { chunks: inPieces(text, 5) })
    expect(lines.at(-1)).toEqual({ run: 'r1', output: 'fine' })
  })

  test('tool calls that are split over events and chunks are put together', async () => {
    const turn: ScriptedModelTurn = {
      text: 'so',
      calls: [{ name: 'finish', input: { output: { words, list: [1, 2] } } }],
    }
    const lines = await ask(wire, { chunks: inPieces(modelStream(wire, turn), 3) }, 'agent')
    expect(lines.at(-1)).toEqual({ run: 'r1', output: { words, list: [1, 2] } })
  })

  test('a connection that breaks inside a reply ends the run', async () => {
    const lines = await ask(wire, { chunks: [modelStream(wire, { text: words }).slice(0, 230)], cut: true })
    expect(String(lines.at(-1)?.error)).toMatch(/^model failed: /)
  })

  test('a stream that ends before the reply is complete ends the run', async () => {
    const whole = modelStream(wire, { text: words })
    const lines = await ask(wire, {
      chunks: [whole.slice(0, whole.indexOf(wire === 'openai' ? 'stop' : 'message_delta'))],
    })
    expect(lines.at(-1)?.error).toBe('model failed: the stream ended before the answer did')
  })

  test('a connection that breaks after the reply is no failure', async () => {
    const lines = await ask(wire, { chunks: [modelStream(wire, { text: words })], cut: true })
    expect(lines.at(-1)?.output).toBe(words)
  })

  test.each(['data: {"broken\n\n', 'data: [1]\n\n', 'data: hello\n\n'])(
    'the malformed event %j ends the run',
    async (event) => {
      const lines = await ask(wire, { chunks: [event, modelStream(wire, { text: words })] })
      expect(lines.at(-1)?.error).toBe('model failed: the stream contains a malformed event')
    },
  )

  test('an error inside the stream becomes the error of the run', async () => {
    const failure = { type: 'error', error: { type: 'overloaded_error', message: 'too much to do' } }
    const lines = await ask(wire, { chunks: [`event: error\ndata: ${JSON.stringify(failure)}\n\n`] })
    expect(lines.at(-1)?.error).toBe('model failed: too much to do')
  })

  test('a reply that is not an event stream ends the run', async () => {
    const lines = await ask(wire, { json: { id: 'x' } })
    expect(lines.at(-1)?.error).toBe('model failed: the answer is not an event stream')
  })

  test('a truncated or refused reply ends the run with that reason', async () => {
    const cutOff = await ask(wire, {
      chunks: [modelStream(wire, { text: 'a', stop: wire === 'openai' ? 'length' : 'max_tokens' })],
    })
    expect(cutOff.at(-1)?.error).toBe('model failed: the answer was cut off at its length limit')
    plane?.close()
    const refused = await ask(wire, {
      chunks: [modelStream(wire, { stop: wire === 'openai' ? 'content_filter' : 'refusal' })],
    })
    expect(refused.at(-1)?.error).toBe('model failed: the model refused to answer')
  })

  test.each([
    [402, { error: 'max_cost_usd is spent' }, 'cost exceeded: max_cost_usd is spent'],
    [400, { type: 'error', error: { message: 'bad schema' } }, 'model failed: bad schema'],
    [502, { error: 'provider unreachable' }, 'model failed: provider unreachable'],
    [500, null, 'model failed: the service answered with status 500'],
    [401, { error: 'no' }, 'the run is over: its token is no longer valid'],
  ])('status %i becomes the error of the run', async (status, json, error) => {
    const lines = await ask(wire, { status, json })
    expect(lines.at(-1)).toEqual({ run: 'r1', error })
  })

  test('a tool call with unreadable input gets an error and is not executed', async () => {
    const broken = modelStream(wire, { calls: [{ name: 'progress', input: { text: 'abc' } }] }).replace('xt', '\\u0000')
    const turns = [broken, modelStream(wire, { calls: [{ name: 'finish', input: { output: 1 } }] })]
    plane = startFakePlane(() => ({ chunks: [turns.shift() ?? ''] }))
    const lines = await runOneBrief(plane, testBrief({ tools: ['progress'], model: { wire, name: 'm' } }))
    expect(eventData(lines, 'tool.result')).toMatchObject([
      { ok: false, error: 'the input of the call is not a JSON object' },
    ])
    expect(lines.at(-1)?.output).toBe(1)
  })
})

test('the request to Anthropic contains version, token, tools, results and strict output in its format', async () => {
  const schema = { type: 'object', properties: { a: { type: 'object', properties: {} } }, required: ['a'] }
  const closedSchema = {
    ...schema,
    properties: { a: { type: 'object', properties: {}, additionalProperties: false } },
    additionalProperties: false,
  }
  plane = startFakePlane(scriptedModel([{ text: 'x', calls: [{ name: 'case_get', input: {} }] }, { text: '{"a":{}}' }]))
  const shared = { output_schema: schema, strict_output: true, temperature: 0.5, tools: ['case_get'] }
  await runOneBrief(plane, testBrief({ ...shared, steps: 9 }))
  const [first, , second] = plane.seen
  expect(first?.path).toBe('/v1/internal/llm/anthropic/v1/messages')
  expect(first?.headers).toMatchObject({ 'anthropic-version': '2023-06-01', authorization: 'Bearer svc_tsk_1' })
  expect(first?.body).toMatchObject({ model: 'test-model', stream: true, temperature: 0.5 })
  const input_schema = {
    type: 'object',
    properties: { output: closedSchema },
    required: ['output'],
    additionalProperties: false,
  }
  expect(first?.body.tools).toMatchObject([{ name: 'case_get' }, { name: 'finish', strict: true, input_schema }])
  expect(second?.body.messages).toEqual([
    expect.objectContaining({ role: 'user' }),
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'x' },
        { type: 'tool_use', id: 'toolu_1', name: 'case_get', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '{}', is_error: false }] },
  ])
  plane.close()
  plane = startFakePlane(scriptedModel([{ text: '{"a":{}}' }]))
  await runOneBrief(plane, testBrief({ ...shared, shape: 'decide' }))
  expect(plane.seen[0]?.body.output_config).toEqual({ format: { type: 'json_schema', schema: closedSchema } })
  expect(plane.seen[0]?.body).not.toHaveProperty('tools')
})

test('the request to OpenAI contains usage, tools, results and strict output in its format', async () => {
  const schema = { type: 'object', properties: {}, required: [] }
  const model = { wire: 'openai' as const, name: 'm' }
  const shared = { model, output_schema: schema, strict_output: true, tools: ['case_get'] }
  plane = startFakePlane(scriptedModel([{ calls: [{ name: 'case_get', input: {} }] }, { text: '{}' }]))
  await runOneBrief(plane, testBrief({ ...shared, steps: 2 }))
  const [first, , second] = plane.seen
  expect(first?.path).toBe('/v1/internal/llm/openai/v1/chat/completions')
  expect(first?.body).toMatchObject({ model: 'm', stream: true, stream_options: { include_usage: true } })
  expect(first?.body.tools).toMatchObject([
    { type: 'function', function: { name: 'case_get' } },
    { type: 'function', function: { name: 'finish', strict: true } },
  ])
  expect(second?.body.tool_choice).toEqual({ type: 'function', function: { name: 'finish' } })
  const call = { id: 'call_0', type: 'function', function: { name: 'case_get', arguments: '{}' } }
  expect(second?.body.messages).toEqual([
    expect.objectContaining({ role: 'system' }),
    expect.objectContaining({ role: 'user' }),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_0', content: '{}' },
  ])
  plane.close()
  plane = startFakePlane(scriptedModel([{ text: '{}' }]))
  await runOneBrief(plane, testBrief({ ...shared, shape: 'decide' }))
  const json_schema = { name: 'output', strict: true, schema: { ...schema, additionalProperties: false } }
  expect(plane.seen[0]?.body.response_format).toEqual({ type: 'json_schema', json_schema })
})

test('whole tool calls without an index, or all with index 0, are distinguished by their ids', async () => {
  const whole = (id: string, name: string, input: object, index?: number) => ({
    index,
    id,
    function: { name, arguments: JSON.stringify(input) },
  })
  const tool_calls = [
    whole('a', 'progress', { text: 'one' }, 0),
    whole('b', 'progress', { text: 'two' }, 0),
    whole('c', 'finish', { output: 3 }),
  ]
  const events = tool_calls.map((call) => ({ choices: [{ delta: { tool_calls: [call] } }] }))
  const end = { choices: [{ delta: {}, finish_reason: 'stop' }] }
  plane = startFakePlane(() => ({
    chunks: [[...events, end].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')],
  }))
  const lines = await runOneBrief(plane, testBrief({ tools: ['progress'], model: { wire: 'openai', name: 'm' } }))
  expect(eventData(lines, 'progress')).toEqual([{ text: 'one' }, { text: 'two' }])
  expect(lines.at(-1)?.output).toBe(3)
})
