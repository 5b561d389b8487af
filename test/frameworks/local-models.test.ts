import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/platform/base/json.ts'
import { testApp } from '../app.ts'
import { blocks, page, ROOT } from '../docs/pages.ts'
import { fakeProvider } from '../execution/models/fake-provider.ts'
import { LOCAL_SERVERS, type LocalCall, type LocalServer } from './local-servers.ts'
import { guideTask, requestedApproval } from './run-guide.ts'

const GUIDE = page('docs/frameworks/local-models.md')
const ENTRY = { order_id: 'A-1', decision: 'refund', category: 'damaged', amount_usd: 80 }
const MESSAGE = { customer_message: 'We have refunded your order.' }
const OUTPUT = { ...ENTRY, reply: 'We have refunded your order.' }
const CALLS: LocalCall[] = [
  {
    name: 'workflow',
    input: { name: 'check_eligibility', args: { order_id: 'A-1', amount_usd: 80, reason: 'damaged' } },
  },
  { name: 'workflow', input: { name: 'book_refund', args: { ...ENTRY, ...MESSAGE } } },
  { name: 'records_put', input: { collection: 'refund_ledger', key: 'A-1', value: { ...ENTRY, ...MESSAGE } } },
  { name: 'finish', input: { output: OUTPUT } },
]

/** The two lines below the heading of a server. */
function guideSettings(server: string): Record<string, string> {
  const section = GUIDE.split('\n## ').find((text) => text.startsWith(`${server}\n`)) ?? ''
  const [lines = '', ...more] = blocks(section, 'ini')
  expect(more).toEqual([])
  return Object.fromEntries(
    lines
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  )
}

/** Starts a server and a service with the settings of the guide, at the port of the server, and creates the task. */
async function startTask(name: string, answer: LocalServer, env: Record<string, string> = {}) {
  const server = await fakeProvider(({ path, body }) => {
    if (path !== '/v1/chat/completions') return { status: 404 }
    const results = (body['messages'] as JsonObject[]).filter(({ role }) => role === 'tool').length
    return answer(body, CALLS[results] ?? null)
  })
  const { OPENAI_BASE_URL: address = '', ...settings } = guideSettings(name)
  const base = new URL(address)
  base.port = new URL(server.url).port
  const wedges = { SVC_SANDBOX: 'bwrap', SVC_WEDGES_DIR: join(ROOT, 'wedges') }
  const app = await testApp({ store: 'sqlite', env: { ...wedges, ...settings, OPENAI_BASE_URL: base.href, ...env } })
  const { id } = await app.createTask(guideTask(GUIDE))
  return { app, id, server }
}

/** The fields that all of the servers document. */
const KNOWN_FIELDS = ['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'temperature', 'tools']

describe.each<[string, LocalServer]>([
  ['Ollama', LOCAL_SERVERS.ollama],
  ['vLLM', LOCAL_SERVERS.vllm],
  ['llama.cpp', LOCAL_SERVERS.llamaCpp],
])('the settings of the guide for %s', (name, answer) => {
  test('are two lines, and with them the bundled agent does the refund desk with one approval', async () => {
    expect(Object.keys(guideSettings(name))).toEqual(['SVC_MODEL', 'OPENAI_BASE_URL'])
    const { app, id, server } = await startTask(name, answer)
    await app.call('POST', `/v1/approvals/${await requestedApproval(app, id)}/approve`, {})
    expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: OUTPUT })
    const events = await app.events(id)
    const dataOf = (type: string) => events.filter(({ event }) => event === type).map(({ data }) => data.data)
    expect(dataOf('cost.charged')).toHaveLength(CALLS.length)
    expect(dataOf('cost.charged')[0]).toMatchObject({ input_tokens: 900, output_tokens: 30 })
    const callIds = dataOf('tool.called').map(({ call_id }) => call_id)
    expect(new Set(callIds).size).toBe(callIds.length)
    for (const { headers, body } of server.seen) {
      expect(headers.authorization).toBeUndefined()
      expect(Object.keys(body).filter((field) => !KNOWN_FIELDS.includes(field))).toEqual([])
    }
  })
})

test.each<[string, string, LocalServer, Record<string, string>, string]>([
  [
    'a model that is not installed',
    'Ollama',
    LOCAL_SERVERS.ollama,
    { SVC_MODEL: 'openai/llama9' },
    'try pulling it first',
  ],
  ['a server without tools', 'vLLM', LOCAL_SERVERS.vllmWithoutTools, {}, 'requires --enable-auto-tool-choice'],
  [
    'a context that is too short',
    'vLLM',
    LOCAL_SERVERS.vllmWithShortContext,
    {},
    'maximum context length is 8192 tokens',
  ],
])('%s: the error of the task has the reason of the server', async (_, name, server, env, reason) => {
  const { app, id } = await startTask(name, server, env)
  expect(await app.finished(id)).toMatchObject({
    status: 'failed',
    error: { reason: 'model_failed', message: expect.stringContaining(reason) },
  })
})
