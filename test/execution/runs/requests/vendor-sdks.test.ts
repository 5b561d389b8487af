import { describe, expect, test } from 'vitest'
import { ECHO_WEDGE, anyStore, testApp } from '../../../app.ts'
import {
  anthropicReply,
  anthropicStream,
  type FakeProvider,
  fakeProvider,
  type ProviderReply,
  responsesReply,
  responsesStream,
} from '../../models/fake-provider.ts'
import { runScript } from '../scripted-agent.ts'
import { sdkAgentFolder } from '../sdk-agent.ts'

const KEYS = { ANTHROPIC_API_KEY: 'sk-canary-anthropic', OPENAI_API_KEY: 'sk-canary-openai' }
const agents = sdkAgentFolder()

async function runWithSdk(
  js: string,
  replies: ProviderReply[],
  more: { model?: string; store?: 'sqlite' | 'postgres'; env?: Record<string, string> } = {},
) {
  const provider: FakeProvider = await fakeProvider(...replies)
  const { model = 'openai/gpt-4.1', store = 'sqlite', env = {} } = more
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  const settings = { SVC_MODEL: model, SVC_SANDBOX: 'bwrap', ...addresses, ...KEYS, ...agents, ...env }
  const app = await testApp({ store, wedges: ECHO_WEDGE, env: settings })
  const connect = `const { openai, anthropic, fetch } = require('./sdks.cjs').connect(brief)\n`
  const { task, events } = await runScript(app, connect + js)
  const dataOf = (type: string) => events.filter(({ event }) => event === type).map(({ data }) => data.data)
  return { app, provider, task, events, dataOf }
}

const ORDER_TOOL = { type: 'function', name: 'find_order', strict: false, parameters: { type: 'object' } }
const callsTool = { call: { name: 'find_order', input: { id: 'A-1' } } }

/** The loop of an agent with the Responses API. `respond` is one call of the library. */
const responsesLoop = (respond: string) => `
  const input = [{ role: 'user', content: 'Where is order A-1?' }]
  const tools = [${JSON.stringify(ORDER_TOOL)}]
  const respond = async (body) => ${respond}
  const first = await respond({ model: 'any', input, tools })
  const call = first.output.find((item) => item.type === 'function_call')
  input.push(...first.output, { type: 'function_call_output', call_id: call.call_id, output: '{"status":"shipped"}' })
  const second = await respond({ model: 'any', input, tools })
  say({ output: { text: second.output_text, name: call.name, tokens: second.usage.input_tokens } })`

const STREAMED = `openai.responses.stream(body).finalResponse()`
const WHOLE = `openai.responses.create(body)`

anyStore((store) => {
  test.each<[string, string, ProviderReply, ProviderReply]>([
    [
      'streamed',
      STREAMED,
      { chunks: [responsesStream(callsTool)] },
      { chunks: [responsesStream({ text: 'Shipped.' })] },
    ],
    ['whole', WHOLE, { json: responsesReply(callsTool) }, { json: responsesReply({ text: 'Shipped.' }) }],
  ])(
    'the OpenAI library calls a tool with the Responses API, %s, and the log shows it',
    async (_, respond, ...replies) => {
      const { app, provider, task, events, dataOf } = await runWithSdk(responsesLoop(respond), replies, { store })
      expect(task).toMatchObject({
        status: 'succeeded',
        output: { text: 'Shipped.', name: 'find_order', tokens: 1000 },
      })
      expect(provider.seen.map(({ path, body }) => [path, body['model'], body['store']])).toEqual([
        ['/v1/responses', 'gpt-4.1', false],
        ['/v1/responses', 'gpt-4.1', false],
      ])
      expect(dataOf('tool.called')).toEqual([{ call_id: 'call_1', tool: 'find_order', input: { id: 'A-1' } }])
      expect(dataOf('tool.result')).toEqual([
        { call_id: 'call_1', tool: 'find_order', ok: true, output: { status: 'shipped' } },
      ])
      const cost = (800 * 2 + 200 * 0.5 + 100 * 8) / 1e6
      expect(dataOf('cost.charged')).toMatchObject([{ cost_usd: cost }, { cost_usd: cost, total_usd: 2 * cost }])
      expect(JSON.stringify([events, task, app.logged])).not.toMatch(/sk-canary|svc_tsk_/)
    },
  )
})

describe('the OpenAI library', () => {
  test('parses structured output of the Responses API', async () => {
    const reply = { json: responsesReply({ text: '{"city":"Oslo"}' }) }
    const { provider, task } = await runWithSdk(
      `const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
       const text = { format: { type: 'json_schema', name: 'place', strict: true, schema } }
       const response = await openai.responses.parse({ model: 'any', input: 'Where?', text })
       say({ output: response.output_parsed })`,
      [reply],
    )
    expect(task.output).toEqual({ city: 'Oslo' })
    expect(provider.seen[0]?.body['text']).toMatchObject({ format: { type: 'json_schema', name: 'place' } })
  })

  test('gets one sentence for what is not possible, and does not try again', async () => {
    const { provider, task } = await runWithSdk(
      `const tries = [
         { store: true }, { background: true }, { previous_response_id: 'resp_0' }, { conversation: 'conv_1' },
         { tools: [{ type: 'web_search' }] }, { input: [{ type: 'item_reference', id: 'msg_unknown' }] },
         { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://attacker.example/a.png' }] }] },
       ]
       const refusals = []
       for (const more of tries)
         await openai.responses.create({ model: 'any', input: 'hi', ...more }).catch((error) => refusals.push([error.status, error.error.message]))
       say({ output: refusals })`,
      [{ json: responsesReply({ text: 'no' }) }],
    )
    expect(task.output).toEqual([
      [400, "field 'store' must not be true: nothing is stored at the provider"],
      [400, "field 'background' must not be true: a response is read while it is made"],
      [
        400,
        "field 'previous_response_id' must not be set: nothing is stored at the provider, so send the whole conversation as `input`",
      ],
      [
        400,
        "field 'conversation' must not be set: nothing is stored at the provider, so send the whole conversation as `input`",
      ],
      [400, "tool 'web_search' is not allowed: use function tools, or custom tools that your program executes"],
      [400, "item 'msg_unknown' must be included in the input: nothing is stored at the provider"],
      [400, "content of type 'input_image' must be included in the request, not referenced"],
    ])
    expect(provider.seen).toEqual([])
  })

  test('lists the model of the run, and reads which of its fields were dropped', async () => {
    const { task } = await runWithSdk(
      `const names = []
       for await (const { id } of openai.models.list()) names.push(id)
       const { id } = await openai.models.retrieve('gpt-4.1')
       const other = await openai.models.retrieve('gpt-9').catch((error) => error.status)
       const { response } = await openai.responses
         .create({ model: 'any', input: 'hi', user: 'me', metadata: { a: 'b' }, service_tier: 'auto' })
         .withResponse()
       say({ output: [names, id, other, response.headers.get('x-svc-dropped-fields')] })`,
      [{ json: responsesReply({ text: 'hi' }) }],
    )
    expect(task.output).toEqual([['gpt-4.1'], 'gpt-4.1', 404, 'user, metadata, service_tier'])
  })

  test('gets the reason of a refusal once, and so does the task', async () => {
    const refusal = {
      status: 400,
      json: { error: { type: 'invalid_request_error', message: 'unknown field: sk-canary-openai' } },
    }
    const { app, provider, task } = await runWithSdk(
      `await openai.responses.create({ model: 'any', input: 'hi' }).catch((error) => say({ error: error.message }))`,
      [refusal],
    )
    const sentence = 'openai answered 400 (invalid_request_error): unknown field: [removed]'
    expect(task.error).toEqual({ reason: 'model_failed', message: `model failed: ${sentence}` })
    expect(provider.seen).toHaveLength(1)
    expect(app.logged.join('\n')).toContain(sentence)
  })
})

describe('the Anthropic library', () => {
  const model = 'anthropic/claude-sonnet-4-5'

  test('calls a tool, with and without /v1 in its base URL, and the log shows it', async () => {
    const { provider, task, dataOf } = await runWithSdk(
      `const Client = anthropic.constructor
       const withoutVersion = (url, init) => fetch(String(url).replace('/v1/messages', '/messages'), init)
       const short = new Client({ apiKey: anthropic.apiKey, baseURL: anthropic.baseURL, fetch: withoutVersion })
       const messages = [{ role: 'user', content: 'Where is order A-1?' }]
       const tools = [{ name: 'find_order', input_schema: { type: 'object' } }]
       const first = await anthropic.messages.stream({ model: 'any', max_tokens: 500, messages, tools }).finalMessage()
       const call = first.content.find(({ type }) => type === 'tool_use')
       const result = { type: 'tool_result', tool_use_id: call.id, is_error: true, content: 'no such order ' + anthropic.apiKey }
       messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: [result] })
       const second = await short.messages.stream({ model: 'any', max_tokens: 500, messages, tools }).finalText()
       say({ output: second })`,
      [
        { chunks: [anthropicStream({ ...callsTool, text: 'Let me see.' })] },
        { chunks: [anthropicStream({ text: 'Gone.' })] },
      ],
      { model },
    )
    expect(task).toMatchObject({ status: 'succeeded', output: 'Gone.' })
    expect(provider.seen.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages'])
    expect(dataOf('tool.called')).toEqual([{ call_id: 'toolu_1', tool: 'find_order', input: { id: 'A-1' } }])
    expect(dataOf('tool.result')).toEqual([
      { call_id: 'toolu_1', tool: 'find_order', ok: false, error: 'no such order [removed]' },
    ])
  })

  test('the tool runner goes on without a thread, which the service does not store, and sends its whole conversation', async () => {
    const { provider, task } = await runWithSdk(
      `const findOrder = { type: 'custom', name: 'find_order', input_schema: { type: 'object' }, parse: (input) => input, run: () => 'shipped' }
       const messages = [{ role: 'user', content: 'Where is order A-1?' }]
       const runner = anthropic.beta.messages.toolRunner({ model: 'any', max_tokens: 500, messages, tools: [findOrder] })
       const { content: [{ text }] } = await runner
       say({ output: text })`,
      [callsTool, { text: 'Shipped.' }].map((reply) => ({ json: anthropicReply(reply) })),
      { model },
    )
    expect(task).toMatchObject({ status: 'succeeded', output: 'Shipped.' })
    const [, { body } = { body: {} }] = provider.seen
    expect(body).toMatchObject({ messages: [{}, {}, { content: [{ type: 'tool_result' }] }], tools: [{}] })
    expect(body).not.toHaveProperty('thread')
  })

  test('counts tokens without a charge, and lists the model of the run', async () => {
    const { provider, task, dataOf } = await runWithSdk(
      `const counted = await anthropic.messages.countTokens({ model: 'any', messages: [{ role: 'user', content: 'hi' }] })
       const names = []
       for await (const { id } of anthropic.models.list()) names.push(id)
       say({ output: [counted, names] })`,
      [{ json: { input_tokens: 7 } }],
      { model },
    )
    expect(task.output).toEqual([{ input_tokens: 7 }, ['claude-sonnet-4-5']])
    expect(provider.seen.map(({ path, body }) => [path, body['model']])).toEqual([
      ['/v1/messages/count_tokens', 'claude-sonnet-4-5'],
    ])
    expect(provider.seen[0]?.headers['x-api-key']).toBe(KEYS.ANTHROPIC_API_KEY)
    expect(dataOf('cost.charged')).toEqual([])
  })
})

anyStore((store) => {
  test('a run continues with the next model when one is not available, and its log says so', async () => {
    const { provider, task, dataOf, events } = await runWithSdk(
      `const response = await openai.responses.create({ model: 'any', input: 'hi' })
       say({ output: response.output_text })`,
      [{ status: 529, headers: { 'retry-after': '60' } }, { json: responsesReply({ text: 'hello' }) }],
      { store, model: 'openai/gpt-5,openai/gpt-5-mini' },
    )
    expect(task).toMatchObject({ status: 'succeeded', output: 'hello' })
    expect(provider.seen.map(({ body }) => body['model'])).toEqual(['gpt-5', 'gpt-5-mini'])
    expect(events[0]?.data.data.model).toBe('openai/gpt-5')
    expect(dataOf('progress')).toEqual([
      {
        text: 'openai/gpt-5 is not available; the run continues with openai/gpt-5-mini.',
        state: 'model_switched',
        model: 'openai/gpt-5-mini',
      },
    ])
    expect(dataOf('cost.charged')).toMatchObject([{ model: 'gpt-5-mini' }])
  })
})
