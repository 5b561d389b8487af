import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/platform/base/json.ts'
import { ECHO_WEDGE, testApp } from '../../../app.ts'
import { fakeProvider, type ProviderReply } from '../../models/fake-provider.ts'
import { runScript } from '../scripted-agent.ts'
import { sdkAgentFolder } from '../sdk-agent.ts'

const agents = sdkAgentFolder()

/** Runs a script with the libraries of the providers over the loopback port, against these replies of a provider. */
async function runWithSdk(
  js: string,
  replies: ProviderReply[],
  model: string,
  wedges: Record<string, unknown> = ECHO_WEDGE,
) {
  const provider = await fakeProvider(...replies)
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  const keys = { OPENAI_API_KEY: 'sk-canary-openai', ANTHROPIC_API_KEY: 'sk-canary-anthropic' }
  const env = { ...(model && { SVC_MODEL: model }), SVC_SANDBOX: 'bwrap', ...addresses, ...keys, ...agents }
  const app = await testApp({ store: 'sqlite', wedges, env })
  const { task, events } = await runScript(
    app,
    `const { openai, anthropic, fetch } = require('./sdks.cjs').connect(brief)\n${js}`,
  )
  const dataOf = (type: string) => events.filter(({ event }) => event === type).map(({ data }) => data.data)
  return { app, provider, task, dataOf }
}

const sse = (events: JsonObject[]) =>
  events
    .map((event, sequence_number): JsonObject => ({ ...event, sequence_number }))
    .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
}
const response = (status: string, output: JsonObject[], more: JsonObject = {}): JsonObject => {
  const base = { id: 'resp_1', object: 'response', created_at: 0, model: 'gpt-5', error: null, tools: [], metadata: {} }
  return { ...base, status, output, usage: status === 'completed' ? USAGE : null, ...more }
}
const call = (id: string, order: string): JsonObject => ({
  id: `fc_${id}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name: 'find_order',
  arguments: JSON.stringify({ id: order }),
})
const REASONING: JsonObject = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'opaque' }

function itemStream(items: JsonObject[]): string {
  const events = items.flatMap((item, output_index): JsonObject[] => [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...item, ...('arguments' in item && { arguments: '' }) },
    },
    ...('arguments' in item
      ? [
          {
            type: 'response.function_call_arguments.delta',
            item_id: item['id'] ?? '',
            output_index,
            delta: item['arguments'] ?? '',
          },
          {
            type: 'response.function_call_arguments.done',
            item_id: item['id'] ?? '',
            output_index,
            arguments: item['arguments'] ?? '',
          },
        ]
      : []),
    { type: 'response.output_item.done', output_index, item },
  ])
  const start = { type: 'response.created', response: response('in_progress', []) }
  return sse([start, ...events, { type: 'response.completed', response: response('completed', items) }])
}

const message = (part: JsonObject): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [part],
})

describe('the Responses API with the OpenAI library', () => {
  test('parallel calls and encrypted reasoning pass through, and each call is logged once over three turns', async () => {
    const calls = [call('call_a', 'A'), call('call_b', 'B')]
    const { app, provider, task, dataOf } = await runWithSdk(
      `const input = [{ role: 'user', content: 'Where are my orders?' }]
       let turn
       for (let n = 0; n < 3; n++) {
         turn = await openai.responses.stream({ model: 'any', input, parallel_tool_calls: true }).finalResponse()
         input.push(...turn.output)
         for (const { type, call_id, arguments: text } of turn.output)
           if (type === 'function_call') input.push({ type: 'function_call_output', call_id, output: '{"order":' + text + '}' })
       }
       say({ output: turn.output_text })`,
      [
        { chunks: [itemStream([REASONING, ...calls])] },
        { chunks: [itemStream([call('call_c', 'C')])] },
        { chunks: [itemStream([message({ type: 'output_text', text: 'Here.', annotations: [] })])] },
      ],
      'openai/gpt-5',
    )
    expect(task).toMatchObject({ status: 'succeeded', output: 'Here.' })
    expect(provider.seen[1]?.body['input']).toMatchObject([
      { role: 'user' },
      { encrypted_content: 'opaque' },
      {},
      {},
      {},
      {},
    ])
    expect(dataOf('tool.called').map(({ call_id, input }) => [call_id, input])).toEqual([
      ['call_a', { id: 'A' }],
      ['call_b', { id: 'B' }],
      ['call_c', { id: 'C' }],
    ])
    expect(dataOf('tool.result').map(({ call_id, output }) => [call_id, output])).toEqual([
      ['call_a', { order: { id: 'A' } }],
      ['call_b', { order: { id: 'B' } }],
      ['call_c', { order: { id: 'C' } }],
    ])
    const { body: trace } = await app.call('GET', `/v1/tasks/${task.id}/trace`)
    const spans = trace.root.children.map(({ kind, status }: { kind: string; status: string }) => `${kind} ${status}`)
    expect(spans).toEqual(['model ok', 'tool ok', 'tool ok', 'model ok', 'tool ok', 'model ok'])
  })

  test('a refusal of the model is read as one, streamed and whole', async () => {
    const refusal = message({ type: 'refusal', refusal: 'I cannot help with that.' })
    const { task } = await runWithSdk(
      `const whole = await openai.responses.create({ model: 'any', input: 'hi' })
       const streamed = await openai.responses.stream({ model: 'any', input: 'hi' }).finalResponse()
       say({ output: [whole, streamed].map((one) => one.output[0].content[0].refusal) })`,
      [{ json: response('completed', [refusal]) }, { chunks: [itemStream([refusal])] }],
      'openai/gpt-5',
    )
    expect(task.output).toEqual(['I cannot help with that.', 'I cannot help with that.'])
  })

  test.each<[string, JsonObject]>([
    ['an error event', { type: 'error', code: 'server_error', message: 'sk-canary-openai is busy', param: null }],
    [
      'a failed response',
      {
        type: 'response.failed',
        response: response('failed', [], { error: { code: 'server_error', message: 'sk-canary-openai is busy' } }),
      },
    ],
  ])('%s in the middle of a stream is an error of the library, and its reason that of the task', async (_, event) => {
    const begun = { type: 'response.created', response: response('in_progress', []) }
    const { app, provider, task } = await runWithSdk(
      `let seen = []
       try {
         for await (const event of await openai.responses.create({ model: 'any', input: 'hi', stream: true })) seen.push(event.type)
         say({ error: 'the stream ended like a complete one: ' + seen })
       } catch (error) {
         say({ error: 'failed after ' + seen[0] })
       }`,
      [{ chunks: [sse([begun]), sse([event])] }],
      'openai/gpt-5,openai/gpt-5-mini',
    )
    const sentence = 'model failed: openai stopped with an error (server_error): [removed] is busy'
    expect(task.error).toEqual({ reason: 'model_failed', message: sentence })
    expect(provider.seen).toHaveLength(1)
    expect(app.logged.join('\n')).not.toContain('sk-canary')
  })

  test('a rehearsal streams the events that the library expects, in their order', async () => {
    const wedges = {
      ...ECHO_WEDGE,
      'echo/rehearsals/say.json': [
        { say: 'Let me see.', call: { tool: 'find_order', input: { id: 'A-1' } } },
        { output: { status: 'shipped' } },
      ],
    }
    const { task, dataOf } = await runWithSdk(
      `const seen = []
       const input = [{ role: 'user', content: 'Where is A-1?' }]
       const stream = openai.responses.stream({ model: 'any', input })
       stream.on('event', ({ type, sequence_number }) => seen.push([type.replace('response.', ''), sequence_number]))
       const first = await stream.finalResponse()
       const { call_id } = first.output.find(({ type }) => type === 'function_call')
       input.push(...first.output, { type: 'function_call_output', call_id, output: 'ok' })
       const schema = { type: 'object', properties: { status: { type: 'string' } } }
       const text = { format: { type: 'json_schema', name: 'answer', schema } }
       const second = await openai.responses.stream({ model: 'any', input, text }).finalResponse()
       say({ output: { seen, text: first.output_text, parsed: JSON.parse(second.output_text) } })`,
      [{}],
      '',
      wedges,
    )
    const types = ['created', 'output_item.added', 'content_part.added', 'output_text.delta', 'output_text.done']
    types.push('content_part.done', 'output_item.done', 'output_item.added', 'function_call_arguments.delta')
    types.push('function_call_arguments.done', 'output_item.done', 'completed')
    expect(task.output).toEqual({
      seen: types.map((type, index) => [type, index]),
      text: 'Let me see.',
      parsed: { status: 'shipped' },
    })
    expect(dataOf('tool.result')).toMatchObject([{ call_id: 'call_1', tool: 'find_order', output: 'ok' }])
  })
})

describe('Chat Completions with the OpenAI library', () => {
  const toolCall = (id: string, order: string) => ({
    id,
    type: 'function',
    function: { name: 'find_order', arguments: `{"id":"${order}"}` },
  })
  const completion = (more: JsonObject, finish_reason: string): JsonObject => ({
    id: 'c1',
    object: 'chat.completion',
    created: 0,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...more }, finish_reason }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })

  test('parallel calls and very large results are logged once, the results cut', async () => {
    const { task, dataOf } = await runWithSdk(
      `const messages = [{ role: 'user', content: 'Where are my orders?' }]
       for (let n = 0; n < 2; n++) {
         const { choices: [{ message }] } = await openai.chat.completions.create({ model: 'any', messages })
         messages.push(message)
         for (const { id } of message.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify({ rows: 'x'.repeat(20_000) }) })
       }
       const { choices } = await openai.chat.completions.create({ model: 'any', messages })
       say({ output: choices[0].message.content })`,
      [
        { json: completion({ tool_calls: [toolCall('call_a', 'A'), toolCall('call_b', 'B')] }, 'tool_calls') },
        { json: completion({ tool_calls: [toolCall('call_c', 'C')] }, 'tool_calls') },
        { json: completion({ content: 'Here.' }, 'stop') },
      ],
      'openai/gpt-4.1',
    )
    expect(task).toMatchObject({ status: 'succeeded', output: 'Here.' })
    expect(dataOf('tool.called').map(({ call_id, tool }) => [call_id, tool])).toEqual(
      ['call_a', 'call_b', 'call_c'].map((id) => [id, 'find_order']),
    )
    expect(dataOf('tool.result')).toEqual(
      ['call_a', 'call_b', 'call_c'].map((call_id) => {
        return { call_id, tool: 'find_order', ok: true, output: { rows: 'x'.repeat(4096) }, truncated: true }
      }),
    )
  })
})

describe('what the Claude Agent SDK sends', () => {
  test('HEAD /api/hello is answered, and the query of /v1/messages does not matter', async () => {
    const { provider, task } = await runWithSdk(
      `const { ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: key } = process.env
       const headers = { 'x-api-key': key, 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a-1,b-2' }
       const hello = await globalThis.fetch(base + '/api/hello', { method: 'HEAD', headers })
       const body = { model: 'any', max_tokens: 50, metadata: { user_id: 'u' }, messages: [{ role: 'user', content: 'hi' }] }
       const reply = await globalThis.fetch(base + '/v1/messages?beta=true', { method: 'POST', headers, body: JSON.stringify(body) })
       say({ output: [hello.status, reply.status, reply.headers.get('x-svc-dropped-fields'), (await reply.json()).content[0].text] })`,
      [
        {
          json: {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            content: [{ type: 'text', text: 'hello' }],
            stop_reason: 'end_turn',
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
      ],
      'anthropic/claude-sonnet-4-5',
    )
    expect(task.output).toEqual([200, 200, 'metadata', 'hello'])
    expect(provider.seen[0]).toMatchObject({ path: '/v1/messages', headers: { 'anthropic-beta': 'a-1,b-2' } })
  })
})
