import { expect, test } from 'vitest'
import { parseRefusal } from '../../../src/execution/models/provider-error.ts'
import { fakeProvider, providerStreams, responsesStream } from './fake-provider.ts'
import { helloRequest, type ModelProxy, openModelProxy } from './model-proxy.ts'

async function start(): Promise<ModelProxy> {
  const provider = await fakeProvider({ chunks: [providerStreams.openai({ text: 'hi' })] })
  const env = { SVC_MODEL: 'openai/gpt-4o', OPENAI_API_KEY: 'canary-key', OPENAI_BASE_URL: `${provider.url}/v1` }
  return openModelProxy(env)
}

test('a refused request is the error of a task that fails because of it, until a call succeeds', async () => {
  const proxy = await start()
  await proxy.call({ ...helloRequest, tools: [{ type: 'web_search' }] })
  const message =
    "model call refused: tool 'web_search' is not allowed: use function tools, or custom tools that your program executes"
  expect(proxy.run.failure).toEqual({ reason: 'model_failed', message })
  expect((await proxy.call()).status).toBe(200)
  expect(proxy.run.failure).toBeNull()
})

test('an agent that uses the API of another provider gets a sentence with the model setting', async () => {
  const proxy = await start()
  const { status, body } = await proxy.call(helloRequest, { wire: 'anthropic' })
  const message = 'no such model route: this run uses openai/gpt-4o (SVC_MODEL), so only the API of openai is available'
  expect({ status, body }).toEqual({ status: 404, body: { error: message } })
  expect(proxy.run.failure?.message).toBe(`model call refused: ${message}`)
})

test('a failure inside a stream is in the log of the service, without the key', async () => {
  const error = { code: 'server_error', message: 'canary-key is overloaded' }
  const failed = `data: ${JSON.stringify({ type: 'response.failed', response: { status: 'failed', error } })}\n\n`
  const begun = responsesStream({ text: 'hi' }).split('event: response.completed')[0] ?? ''
  const provider = await fakeProvider({ chunks: [begun, failed] })
  const proxy = await openModelProxy({
    SVC_MODEL: 'openai/gpt-5,openai/gpt-5-mini',
    OPENAI_API_KEY: 'canary-key',
    OPENAI_BASE_URL: provider.url,
  })
  await proxy.call({ model: 'any', input: 'hi', stream: true }, { path: 'v1/responses' })
  expect(proxy.logged()).toContain('model failed: openai stopped with an error (server_error): [removed] is overloaded')
  expect(proxy.logged()).not.toContain('canary')
  // The agent already has a part of the answer, so no other model makes it again.
  expect(provider.seen).toHaveLength(1)
})

test('a refusal that repeats a long word of the agent takes the service almost no time', () => {
  const message = `Invalid value: ${'a'.repeat(100_000)}`
  const { user: before } = process.cpuUsage()
  const { reason } = parseRefusal(400, JSON.stringify({ error: { message } }), 'canary-key-of-the-service')
  expect(reason).toBe(`: ${message.slice(0, 500)}`)
  expect(process.cpuUsage().user - before).toBeLessThan(3_000_000)
})

test('a file by id is refused, also beside its content', async () => {
  const proxy = await start()
  const content = [{ type: 'file', file: { file_data: 'data:application/pdf;base64,aGk=', file_id: 'file-abc' } }]
  expect(await proxy.call({ ...helloRequest, messages: [{ role: 'user', content }] })).toMatchObject({ status: 400 })
})

test('a run counts tokens 1,000 times and four times at once, so that it cannot use up the rate limit of the key', async () => {
  const provider = await fakeProvider({ chunks: [], ending: 'stay' })
  const env = { SVC_MODEL: 'anthropic/claude-opus-5', ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: provider.url }
  const proxy = await openModelProxy(env)
  const count = () => proxy.call(helloRequest, { path: 'v1/messages/count_tokens' })
  const open = [count(), count(), count(), count()]
  await expect.poll(() => provider.seen.length).toBe(4)
  expect(await count()).toMatchObject({ status: 429, body: { error: expect.stringContaining('at once') } })
  proxy.abort()
  await Promise.all(open)
  expect(proxy.run.tokenCounts).toEqual({ asked: 4, open: 0 })
  proxy.run.tokenCounts.asked = 1000
  expect(await count()).toMatchObject({ status: 429, body: { error: 'a run may count tokens 1000 times' } })
  expect(provider.seen).toHaveLength(4)
})
