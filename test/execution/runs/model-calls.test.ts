import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eachStore, testApp } from '../../app.ts'
import { type FakeProvider, type ProviderReply, fakeProvider, providerStreams } from '../models/fake-provider.ts'
import { scriptedAgentFolder, runScript } from './scripted-agent.ts'

const WEDGES = {
  'talk/wedge.json': {
    wedge: 'talk',
    title: 'Talk',
    cases: { stages: ['new'], initial: 'new' },
    task_types: {
      chat: {
        harness: { temperature: 0.3 },
        output_schema: { type: 'object', required: ['said'], properties: { said: { type: 'string' } } },
      },
    },
  },
}
const KEYS = { ANTHROPIC_API_KEY: 'sk-canary-anthropic', OPENAI_API_KEY: 'sk-canary-openai' }
const MODELS = { anthropic: 'anthropic/claude-sonnet-4-5', openai: 'openai/gpt-4.1' }
const agents = scriptedAgentFolder()

type ApiFormat = 'anthropic' | 'openai'

async function appWithProvider(format: ApiFormat, replies: ProviderReply[], env: Record<string, string> = {}) {
  const provider = await fakeProvider(...replies)
  const store = env.store === 'postgres' ? 'postgres' : 'sqlite'
  const app = await testApp({
    store,
    wedges: WEDGES,
    env: { ...providerSettings(format, provider), SVC_SANDBOX: 'bwrap', ...env },
  })
  return { app, provider }
}

function providerSettings(format: ApiFormat, { url }: FakeProvider): Record<string, string> {
  return { SVC_MODEL: MODELS[format], ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, ...KEYS }
}

const toolCallReply = (format: ApiFormat, name: string, input: object, text = ''): ProviderReply => ({
  chunks: [providerStreams[format]({ text, call: { name, input: { ...input } } })],
})

test('a model is offered exactly the tools that work in its run', async () => {
  const replies = Array.from({ length: 2 }, () => toolCallReply('openai', 'finish', { output: { said: 'hello' } }))
  const { app, provider } = await appWithProvider('openai', replies)
  const { id } = await app.createTask({ wedge: 'talk', task_type: 'chat', input: {} })
  await app.finished(id)
  const { body: claim } = await app.call('POST', '/v1/cases', { wedge: 'talk', title: 'Water damage' })
  const { body: task } = await app.call('POST', `/v1/cases/${claim.id}/tasks`, { task_type: 'chat', input: {} })
  await app.finished(task.id)
  const offered = provider.seen.map(({ body }) =>
    [...JSON.stringify(body.tools).matchAll(/"function":\{"name":"(\w+)"/g)].map(([, name]) => name),
  )
  const always = ['records_get', 'records_put', 'records_list']
  const afterwards = ['report_gap', 'ask_person', 'progress', 'finish']
  expect(offered).toEqual([
    [...always, ...afterwards],
    [...always, 'case_get', 'case_update', ...afterwards],
  ])
})

test('the tier of a task type chooses its model, and the bundled agent logs each tool once', async () => {
  const replies = [
    toolCallReply('openai', 'progress', { text: 'thinking' }),
    toolCallReply('openai', 'finish', { output: { said: 'hello' } }),
  ]
  const provider = await fakeProvider(...replies)
  const chat = { ...WEDGES['talk/wedge.json'].task_types.chat, harness: { tier: 'fast' } }
  const wedges = { 'talk/wedge.json': { ...WEDGES['talk/wedge.json'], task_types: { chat } } }
  const env = { ...providerSettings('openai', provider), SVC_MODEL_FAST: 'openai/gpt-5-nano' }
  const app = await testApp({ store: 'sqlite', wedges, env })
  const { id } = await app.createTask({ wedge: 'talk', task_type: 'chat' })
  const events = await app.events(id)
  expect(events[0]?.data.data.model).toBe('openai/gpt-5-nano')
  expect(provider.seen.map(({ body }) => body.model)).toEqual(['gpt-5-nano', 'gpt-5-nano'])
  const tools = events.filter(({ event }) => event === 'tool.called').map(({ data }) => data.data.tool)
  expect(tools).toEqual([...new Set(tools)])
})

eachStore((store) => {
  test('an agent that logs its tools itself is not logged twice', async () => {
    const replies = [toolCallReply('openai', 'look', { at: 1 }), { chunks: [providerStreams.openai({ text: 'done' })] }]
    const { app } = await appWithProvider('openai', replies, { store, ...agents })
    const { events } = await runScript(
      app,
      `const path = '/v1/internal/llm/openai/v1/chat/completions'
       const question = { role: 'user', content: 'hi' }
       await ask('POST', path, { stream: true, messages: [question] })
       say({ event: 'tool.called', data: { call_id: 'call_1', tool: 'look', input: { at: 1 } } })
       say({ event: 'tool.result', data: { call_id: 'call_1', tool: 'look', ok: true, output: 'seen' } })
       const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }]
       const messages = [question, { role: 'assistant', tool_calls }, { role: 'tool', tool_call_id: 'call_1', content: 'seen' }]
       await ask('POST', path, { stream: true, messages })
       say({ output: { said: 'done' } })`,
      { wedge: 'talk', task_type: 'chat' },
    )
    const tools = events.filter(({ event }) => event.startsWith('tool.')).map(({ data }) => data.data)
    expect(tools).toEqual([
      { call_id: 'call_1', tool: 'look', input: { at: 1 } },
      { call_id: 'call_1', tool: 'look', ok: true, output: 'seen' },
    ])
  })
})

describe.each(['anthropic', 'openai'] as const)('a run with a model of the %s API', (format) => {
  test('adds the API key, passes the temperature, charges every call, and can be replayed offline', async () => {
    const replies = [
      toolCallReply(format, 'progress', { text: 'thinking' }, 'Let me see.'),
      toolCallReply(format, 'finish', { output: { said: 'hello' } }),
    ]
    const { app, provider } = await appWithProvider(format, replies, { SVC_RECORD_REHEARSAL: '1' })
    const { id } = await app.createTask({ wedge: 'talk', task_type: 'chat', input: { text: 'hi' } })
    const events = await app.events(id)
    const { body: task } = await app.call('GET', `/v1/tasks/${id}`)
    expect(task).toMatchObject({ status: 'succeeded', output: { said: 'hello' } })
    expect(events[0]?.data.data.model).toBe(MODELS[format])

    expect(provider.seen).toHaveLength(2)
    const [call] = provider.seen
    const key = format === 'anthropic' ? call?.headers['x-api-key'] : call?.headers.authorization
    expect(key).toContain(KEYS[format === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'])
    expect(call?.body).toMatchObject({ temperature: 0.3, stream: true })
    expect(JSON.stringify(provider.seen.map(({ headers, body }) => [headers, body]))).not.toMatch(/svc_(task|gate)/)

    const charges = events.filter(({ event }) => event === 'cost.charged').map(({ data }) => data.data)
    expect(charges).toHaveLength(2)
    expect(charges[0]).toMatchObject({ input_tokens: 1000, output_tokens: 100 })
    expect(charges[1].total_usd).toBeCloseTo(charges[0].cost_usd * 2, 6)
    expect(task.cost_usd).toBe(charges[1].total_usd)
    expect(events.map(({ event }) => event)).toContain('token.delta')
    const everything = JSON.stringify([events, task, app.logged])
    for (const secret of Object.values(KEYS)) expect(everything).not.toContain(secret)

    const recorded = JSON.parse(readFileSync(join(app.dir, 'data/rehearsals/talk/chat.json'), 'utf8'))
    const offline = await testApp({ store: 'sqlite', wedges: { ...WEDGES, 'talk/rehearsals/chat.json': recorded } })
    const again = await offline.createTask({ wedge: 'talk', task_type: 'chat', input: { text: 'hi' } })
    expect(await offline.finished(again.id)).toMatchObject({
      status: 'succeeded',
      output: { said: 'hello' },
      cost_usd: 0,
    })
  })

  test('ends with cost_exceeded before a call that would exceed the cost limit', async () => {
    const { app, provider } = await appWithProvider(format, [toolCallReply(format, 'progress', { text: 'more' })])
    const constraints = { max_cost_usd: 0.02 }
    const { id } = await app.createTask({ wedge: 'talk', task_type: 'chat', constraints })
    const task = await app.finished(id)
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'cost_exceeded' } })
    expect(task.cost_usd).toBeGreaterThan(0)
    expect(task.cost_usd).toBeLessThanOrEqual(0.02)
    expect(provider.seen.length).toBeLessThan(20)
  })

  test.each([
    ['rejects the API key', { status: 401, json: { error: { message: 'invalid key' } } }],
    [
      'closes the connection in the middle of its response',
      { chunks: [providerStreams[format]({ text: 'half an ans' }).slice(0, 200)], ending: 'cut' },
    ],
  ] as [string, ProviderReply][])('ends with model_failed when the provider %s', async (_, reply) => {
    const { app } = await appWithProvider(format, [reply])
    const { id } = await app.createTask({ wedge: 'talk', task_type: 'chat' })
    const task = await app.finished(id)
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'model_failed' } })
    expect(JSON.stringify(task.error)).not.toContain('sk-canary')
  })
})

eachStore((store) => {
  test('an agent that ends before its model call ends is charged for the call', async () => {
    const unfinished =
      providerStreams.anthropic({ text: 'a long answer'.repeat(20) }).split('event: content_block_stop')[0] ?? ''
    const { app, provider } = await appWithProvider('anthropic', [{ chunks: [unfinished], ending: 'stay' }], {
      store,
      ...agents,
    })
    const { task, events } = await runScript(
      app,
      // A process of another process group makes the call, so that the call continues after the agent has ended.
      `const caller = \`
         const { socket, token } = JSON.parse(process.argv[1])
         const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
         const path = '/v1/internal/llm/anthropic/v1/messages'
         const request = require('node:http').request({ socketPath: socket, method: 'POST', path, headers })
         request.on('response', (response) => response.once('data', () => require('node:fs').writeFileSync('/tmp/responded', '')))
         request.end('{"model":"x","max_tokens":500,"stream":true,"messages":[{"role":"user","content":"hi"}]}')\`
       const { socket, task_token: token } = brief.service
       const args = ['-e', caller, JSON.stringify({ socket, token })]
       require('node:child_process').spawn('node', args, { detached: true, stdio: 'ignore' }).unref()
       while (!require('node:fs').existsSync('/tmp/responded')) await new Promise((resolve) => setTimeout(resolve, 10))
       say({ output: { said: 'enough' } })`,
      { wedge: 'talk', task_type: 'chat' },
    )
    expect(task).toMatchObject({ status: 'succeeded', output: { said: 'enough' } })
    expect(task.cost_usd).toBeGreaterThan(0)
    const types = events.map(({ event }) => event)
    expect(types.indexOf('cost.charged')).toBeLessThan(types.indexOf('task.finished'))
    expect(types).toContain('cost.charged')
    await provider.seen[0]?.closed
  })
})
