import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/platform/base/json.ts'
import type { ModelProvider } from '../../../src/platform/contract/agent-protocol.ts'
import { rehearsalProblems } from '../../../src/platform/contract/rehearsal.ts'
import { type ModelProxy, helloRequest, openModelProxy } from './model-proxy.ts'
import { smallChunks, type FakeProvider, fakeProvider, providerStreams, type ScriptedTurn } from './fake-provider.ts'

let proxy: ModelProxy
let provider: FakeProvider

const MODELS = { anthropic: 'anthropic/claude-sonnet-4-5', openai: 'openai/gpt-4o' }

async function start(wire: ModelProvider, turn: ScriptedTurn, record = '1'): Promise<void> {
  provider = await fakeProvider({ chunks: smallChunks(providerStreams[wire](turn)) })
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: provider.url }
  proxy = await openModelProxy({ ...addresses, SVC_MODEL: MODELS[wire], SVC_RECORD_REHEARSAL: record })
}

const path = () => join(proxy.ctx.config.dataDir, 'rehearsals/refunds/triage.json')
const recorded = (): Json => JSON.parse(readFileSync(path(), 'utf8'))

/** An assistant message with two calls, and one with an output that was refused. */
const EARLIER: Record<ModelProvider, JsonObject[]> = {
  anthropic: [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: '1', name: 'records_get', input: { key: 'a' } },
        { type: 'tool_use', id: '2', name: 'records_get', input: { key: 'b' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: '{}' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: '3', name: 'finish', input: { output: 'wrong' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: '3', content: 'not so' }] },
  ],
  openai: [
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'records_get', arguments: '{"key":"a"}' } },
        { id: '2', type: 'function', function: { name: 'records_get', arguments: '{"key":"b"}' } },
      ],
    },
    { role: 'tool', tool_call_id: '1', content: '{}' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '3', type: 'function', function: { name: 'finish', arguments: '{"output":"wrong"}' } }],
    },
    { role: 'tool', tool_call_id: '3', content: 'not so' },
  ],
}

describe.each(['anthropic', 'openai'] as const)('recording a rehearsal, %s format', (wire) => {
  test('a run is recorded once the model gives its output', async () => {
    await start(wire, { text: 'All done.', call: { name: 'finish', input: { output: { ok: 'jä' } } } })
    await proxy.call({ ...helloRequest, messages: [{ role: 'user', content: 'go' }, ...EARLIER[wire]] })
    const script = recorded()
    expect(script).toEqual([
      { say: 'I look.', call: { tool: 'records_get', input: { key: 'a' } } },
      { call: { tool: 'records_get', input: { key: 'b' } } },
      { say: 'All done.', output: { ok: 'jä' } },
    ])
    expect(rehearsalProblems(script)).toEqual([])
    expect(statSync(path()).mode & 0o777).toBe(0o600)
  })

  test('without a tool call the text is recorded as the output', async () => {
    await start(wire, { text: '{"step":"remind"}' })
    await proxy.call()
    expect(recorded()).toEqual([{ output: { step: 'remind' } }])
  })

  test('nothing is recorded before the output', async () => {
    await start(wire, { text: 'hm', call: { name: 'records_get', input: { key: 'a' } } })
    await proxy.call()
    expect(existsSync(path())).toBe(false)
  })

  test('nothing is recorded unless the setting is on', async () => {
    await start(wire, { text: 'done' }, '0')
    await proxy.call()
    expect(existsSync(path())).toBe(false)
  })
})

test('two streamed tool calls that both carry index 0 are recorded as two calls', async () => {
  const call = (id: string, name: string, input: JsonObject) => ({
    choices: [{ delta: { tool_calls: [{ index: 0, id, function: { name, arguments: JSON.stringify(input) } }] } }],
  })
  const events = [
    call('a', 'records_get', { key: 'a' }),
    call('b', 'finish', { output: 'fine' }),
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
  ]
  provider = await fakeProvider({ chunks: events.map((event) => `data: ${JSON.stringify(event)}\n\n`) })
  proxy = await openModelProxy({ OPENAI_BASE_URL: provider.url, SVC_MODEL: MODELS.openai, SVC_RECORD_REHEARSAL: '1' })
  await proxy.call()
  expect(recorded()).toEqual([{ call: { tool: 'records_get', input: { key: 'a' } } }, { output: 'fine' }])
})

test('a reply that is not streamed is recorded', async () => {
  provider = await fakeProvider({ json: { choices: [{ message: { role: 'assistant', content: 'fine' } }] } })
  proxy = await openModelProxy({ OPENAI_BASE_URL: provider.url, SVC_MODEL: MODELS.openai, SVC_RECORD_REHEARSAL: '1' })
  await proxy.call({ ...helloRequest, stream: false })
  expect(recorded()).toEqual([{ output: 'fine' }])
})
