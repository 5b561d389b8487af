import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import type { ModelProvider } from '../../../src/platform/contract/agent-protocol.ts'
import { type ModelProxy, helloRequest, openModelProxy } from './model-proxy.ts'
import { smallChunks, type FakeProvider, type ProviderReply, fakeProvider, providerStreams } from './fake-provider.ts'

const KEYS = { ANTHROPIC_API_KEY: 'canary-anthropic-key', OPENAI_API_KEY: 'canary-openai-key' }
const MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-4o' }
/** The cost of 800 uncached and 200 cached input tokens and 100 output tokens of these models. */
const MICROS = { anthropic: 800 * 3 + 200 * 0.3 + 100 * 15, openai: 800 * 2.5 + 200 * 1.25 + 100 * 10 }
/** What the streams of the fake provider say about themselves. */
const REPLY_DETAILS = {
  anthropic: { response_model: 'claude-sonnet-4-5-20250929', finish_reason: 'end_turn' },
  openai: { response_model: 'gpt-4o-2024-11-20', finish_reason: 'stop' },
}
const STREAMED_CHARGE = {
  streamed: true,
  input_tokens: 1000,
  cache_read_tokens: 200,
  cache_write_tokens: 0,
  output_tokens: 100,
  duration_ms: expect.any(Number),
}

let proxy: ModelProxy
let provider: FakeProvider

async function start(
  wire: ModelProvider,
  replies: ProviderReply[],
  more: Record<string, string> = {},
  run = {},
): Promise<void> {
  provider = await fakeProvider(...replies)
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  proxy = await openModelProxy({ ...KEYS, ...addresses, SVC_MODEL: `${wire}/${MODELS[wire]}`, ...more }, run)
}

const whole = (wire: ModelProvider, turn = { text: 'Grüße aus Köln 🙂, all is well' }): ProviderReply => ({
  chunks: [providerStreams[wire](turn)],
})

describe.each(['anthropic', 'openai'] as const)('model call, %s format', (wire) => {
  test('the stream is forwarded unchanged, however it is split into chunks', async () => {
    const text = providerStreams[wire]({ text: 'Grüße aus Köln 🙂', call: { name: 'finish', input: { output: 'né' } } })
    await start(wire, [{ chunks: smallChunks(text) }])
    const response = await proxy.call()
    expect(response).toMatchObject({ status: 200, text, whole: true })
    expect(response.headers['content-type']).toMatch(/^text\/event-stream/)
    expect(proxy.run.failure).toBeNull()
  })

  test('a call is charged by the usage that the provider reports', async () => {
    await start(wire, [{ chunks: smallChunks(providerStreams[wire]({ text: 'hi' })) }])
    await proxy.call()
    const usd = MICROS[wire] / 1e6
    expect(await proxy.charges()).toEqual([
      {
        provider: wire,
        model: MODELS[wire],
        ...REPLY_DETAILS[wire],
        ...STREAMED_CHARGE,
        cost_usd: usd,
        total_usd: usd,
      },
    ])
    expect(await proxy.costMicros()).toBe(MICROS[wire])
    expect(proxy.run).toMatchObject({ spentMicros: MICROS[wire], reservedMicros: 0 })
  })

  test('a call is charged before the agent gets the end of the reply, so that the task cannot end uncharged', async () => {
    await start(wire, [{ chunks: smallChunks(providerStreams[wire]({ text: 'hi' })) }])
    let spentAtStop = -1
    await proxy.call(helloRequest, {
      onChunk: (text) => {
        if (spentAtStop < 0 && /"(stop_reason|finish_reason)":".*\n\n/.test(text)) spentAtStop = proxy.run.spentMicros
        return undefined
      },
    })
    expect(spentAtStop).toBe(MICROS[wire])
  })

  test('a call goes to the model of the run with the real key and without credentials of the sandbox', async () => {
    await start(wire, [whole(wire)])
    const response = await proxy.call(
      { ...helloRequest, metadata: { user: 'me' } },
      { headers: { cookie: 'a=b', 'anthropic-beta': 'x-1' } },
    )
    const [seen] = provider.seen
    expect(seen?.body).toMatchObject({ model: MODELS[wire], messages: helloRequest['messages'], stream: true })
    expect(seen?.body).not.toHaveProperty('metadata')
    expect(seen?.headers).not.toHaveProperty('cookie')
    if (wire === 'anthropic') {
      expect(seen?.path).toBe('/v1/messages')
      expect(seen?.headers).toMatchObject({ 'x-api-key': KEYS.ANTHROPIC_API_KEY, 'anthropic-beta': 'x-1' })
      expect(seen?.headers).toHaveProperty('anthropic-version')
      expect(seen?.headers).not.toHaveProperty('authorization')
    } else {
      expect(seen?.path).toBe('/v1/chat/completions')
      expect(seen?.headers.authorization).toBe(`Bearer ${KEYS.OPENAI_API_KEY}`)
      expect(seen?.headers).not.toHaveProperty('anthropic-beta')
      expect(seen?.body['stream_options']).toEqual({ include_usage: true })
    }
    expect(JSON.stringify([seen?.headers, seen?.body])).not.toContain('svc_tsk_')
    expect(response.text + JSON.stringify(response.headers) + proxy.logged()).not.toContain('canary')
  })

  test('a reply that is not streamed is charged', async () => {
    const usage =
      wire === 'anthropic'
        ? { input_tokens: 800, cache_read_input_tokens: 200, output_tokens: 100 }
        : { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 200 } }
    await start(wire, [{ json: { content: 'hi', usage } }])
    const response = await proxy.call({ ...helloRequest, stream: false })
    expect(response).toMatchObject({ status: 200, body: { content: 'hi' } })
    expect(await proxy.costMicros()).toBe(MICROS[wire])
    expect(proxy.run.reservedMicros).toBe(0)
  })

  test('the connection to the provider is reused', async () => {
    await start(wire, [whole(wire)])
    for (let i = 0; i < 3; i++) await proxy.call()
    expect(provider.seen).toHaveLength(3)
    expect(provider.sockets()).toBe(1)
  })

  test('a stream that breaks is cut off for the agent, charged by what was streamed, and a model failure', async () => {
    const text = providerStreams[wire]({ text: 'x'.repeat(400) })
    await start(wire, [{ chunks: [text.slice(0, Math.floor(text.length * 0.7))], ending: 'cut' }])
    const response = await proxy.call()
    expect(response.whole).toBe(false)
    const [charge] = await proxy.charges()
    expect(charge?.['output_tokens']).toBeGreaterThanOrEqual(50)
    expect(charge?.['cost_usd']).toBeGreaterThan(0)
    expect(proxy.run.failure).toEqual({
      reason: 'model_failed',
      message: `model failed: ${wire} ended its answer early`,
    })
    expect(proxy.run.reservedMicros).toBe(0)
  })

  test('a stream that ends before the reply is complete is a model failure', async () => {
    const text = providerStreams[wire]({ text: 'hello there' })
    await start(wire, [{ chunks: [text.slice(0, text.indexOf('there'))] }])
    expect((await proxy.call()).whole).toBe(false)
    expect(proxy.run.failure?.reason).toBe('model_failed')
  })

  test('a connection that breaks after the end of the reply is no failure', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' })], ending: 'cut' }])
    expect(await proxy.call()).toMatchObject({ status: 200, whole: true })
    expect(proxy.run.failure).toBeNull()
  })

  test('the agent does not wait for a provider that keeps the stream open after the end of the reply', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' })], ending: 'stay' }])
    expect(await proxy.call()).toMatchObject({ status: 200, whole: true })
    proxy.clock.jump(1000)
    await provider.seen[0]?.closed
  })

  test('a malformed event is forwarded, the rest is metered, and the failure is named', async () => {
    const text = `data: {"broken\n\n${providerStreams[wire]({ text: 'hi' })}`
    await start(wire, [{ chunks: [text] }])
    expect((await proxy.call()).text).toBe(text)
    expect(await proxy.costMicros()).toBe(MICROS[wire])
    expect(proxy.run.failure?.message).toBe(`model failed: ${wire} sent a malformed event`)
  })

  test('a stream without data for two minutes is ended', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' }).slice(0, 120)], ending: 'stay' }])
    const response = await proxy.clock.until(proxy.call(), 30_000)
    expect(response.whole).toBe(false)
    expect(proxy.run.failure?.message).toBe(`model failed: ${wire} stopped sending in the middle of its answer`)
    await provider.seen[0]?.closed
  })

  test('a call ends at the provider when the agent disconnects', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' }).slice(0, 120)], ending: 'stay' }])
    await proxy.call(helloRequest, { onChunk: () => true }).catch(() => {})
    await provider.seen[0]?.closed
    await settled()
    expect(await proxy.charges()).toHaveLength(1)
    expect(proxy.run.failure).toBeNull()
  })

  test('a call ends at the provider when the run is over, and is not charged', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' }).slice(0, 120)], ending: 'stay' }])
    await proxy.setStatus('cancelled')
    const response = await proxy.call(helloRequest, {
      onChunk: () => {
        proxy.abort()
        return undefined
      },
    })
    expect(response.whole).toBe(false)
    await provider.seen[0]?.closed
    expect(await proxy.charges()).toEqual([])
  })

  test('the proxy does not read ahead of an agent that does not read', async () => {
    const frame = `: ${'x'.repeat(1 << 16)}\n\n`
    const flood = Array.from({ length: 1024 }, () => frame)
    await start(wire, [{ chunks: flood }])
    void proxy.call(helloRequest, { neverReads: true }).catch(() => {})
    let before = 0
    const stalls = () => before > 0 && provider.written() === before
    while (!stalls()) {
      before = provider.written()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(provider.written()).toBeLessThan(512)
    proxy.abort()
    await provider.seen[0]?.closed
  })
})

describe('failing provider', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'canary-anthropic-key is busy' } }

  test.each([500, 502, 503, 529, 429, 408])(
    'a call that fails with %i is retried until it succeeds',
    async (status) => {
      await start('anthropic', [{ status, json: overloaded }, { status, json: overloaded }, whole('anthropic')])
      proxy.clock.hurry = true
      expect(await proxy.call()).toMatchObject({ status: 200, whole: true })
      expect(provider.seen).toHaveLength(3)
      expect(proxy.run.failure).toBeNull()
      expect(await proxy.costMicros()).toBe(MICROS.anthropic)
    },
  )

  test('a fourth failure is a model failure with the status and error code, and the reason of the provider', async () => {
    await start('anthropic', [{ status: 529, json: overloaded }])
    proxy.clock.hurry = true
    const response = await proxy.call()
    const sentence = 'anthropic answered 529 (overloaded_error) after 4 attempts: [removed] is busy'
    expect(response).toMatchObject({ status: 502, body: { error: sentence } })
    expect(proxy.run.failure).toEqual({ reason: 'model_failed', message: `model failed: ${sentence}` })
    expect(provider.seen).toHaveLength(4)
    expect(proxy.clock.waits.map((ms) => Math.floor(ms / 500))).toEqual([1, 2, 4])
    expect(proxy.run.reservedMicros).toBe(0)
    expect(await proxy.charges()).toEqual([])
    expect(response.text + proxy.logged()).not.toContain('canary')
  })

  test.each([
    ['in seconds', { 'retry-after': '7' }, 7000],
    ['as a date', { 'retry-after': new Date(1_800_000_009_000).toUTCString() }, 9000],
    ['in milliseconds', { 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  ])('a retry waits as long as the provider asks for %s', async (_, headers, wait) => {
    await start('openai', [{ status: 429, headers }, whole('openai')])
    proxy.clock.hurry = true
    await proxy.call()
    expect(proxy.clock.waits[0]).toBe(wait)
  })

  test('a provider that asks for a wait of an hour is not called again', async () => {
    await start('openai', [{ status: 429, headers: { 'retry-after': '3600' } }])
    expect((await proxy.call()).body['error']).toBe('openai answered 429 and asks to wait 3600 s')
  })

  test('a call is not retried when the quota is exhausted', async () => {
    await start('openai', [{ status: 429, json: { error: { code: 'insufficient_quota', message: 'no money' } } }])
    expect((await proxy.call()).body['error']).toBe('openai answered 429 (insufficient_quota): no money')
  })

  test.each([
    [400, 'openai answered 400 (invalid_request_error): bad key [removed]'],
    [401, 'openai answered 401 (invalid_request_error); check OPENAI_API_KEY'],
    [403, 'openai answered 403 (invalid_request_error): bad key [removed]; check OPENAI_API_KEY'],
    [404, 'openai answered 404 (invalid_request_error): bad key [removed]; check SVC_MODEL and OPENAI_BASE_URL'],
    [302, 'openai answered 302 (invalid_request_error): bad key [removed]'],
  ])('a call that fails with %i is not retried', async (status, sentence) => {
    const error = { type: 'invalid_request_error', message: `bad key ${KEYS.OPENAI_API_KEY}` }
    await start('openai', [{ status, json: { error }, headers: { location: 'http://127.0.0.1:1/' } }])
    const response = await proxy.call()
    expect(response.body['error']).toBe(sentence)
    expect(provider.seen).toHaveLength(1)
    expect(response.text + proxy.logged()).not.toContain('canary')
  })

  test.each([
    [{ object: 'error', message: 'max_tokens is too large: 16384' }, ': max_tokens is too large: 16384'],
    [{ error: 'model "x" not found,\n try pulling it first' }, ': model "x" not found, try pulling it first'],
    [{ error: { message: 'long '.repeat(200) } }, `: ${'long '.repeat(100)}`],
    [{ error: { message: 'sk-proj-abc***xyz and Bearer abcdef' } }, ': [removed] and [removed]'],
    [{ error: { message: 'key cana****-key, cana…, ...-key. ok...' } }, ': key [removed] [removed] [removed] ok...'],
    [{}, ''],
  ])('the reason of a refusal is in the error and in the log: %j', async (json, reason) => {
    await start('openai', [{ status: 400, json }])
    const sentence = `openai answered 400${reason}`
    expect((await proxy.call()).body['error']).toBe(sentence)
    expect(proxy.run.failure?.message).toBe(`model failed: ${sentence}`)
    expect(proxy.logged()).toContain(JSON.stringify(`model failed: ${sentence}`).slice(1, -1))
  })

  test('a call is retried when the connection breaks before the first byte', async () => {
    await start('openai', [{ drop: true }, { chunks: [], ending: 'cut' }, whole('openai')])
    proxy.clock.hurry = true
    expect(await proxy.call()).toMatchObject({ status: 200, whole: true })
  })

  test('the error for an unreachable provider names the settings to check', async () => {
    await start('openai', [whole('openai')], { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })
    proxy.clock.hurry = true
    expect((await proxy.call()).body['error']).toBe(
      'openai could not be reached (ECONNREFUSED) after 4 attempts; check SVC_MODEL and OPENAI_BASE_URL',
    )
  })

  test('a provider that sends nothing is given two minutes', async () => {
    await start('openai', [{ chunks: [], ending: 'stay' }])
    const response = await proxy.clock.until(proxy.call(), 30_000)
    expect(response.body['error']).toMatch(/^openai sent nothing for 120 s/)
    expect(proxy.run.reservedMicros).toBe(0)
  })

  test('an error inside a stream is reported with the error code of the provider', async () => {
    const text = anthropicError(overloaded)
    await start('anthropic', [{ chunks: [text] }])
    expect((await proxy.call()).text).toBe(text)
    expect(proxy.run.failure?.message).toBe(
      'model failed: anthropic stopped with an error (overloaded_error): [removed] is busy',
    )
  })

  test('a response that is not an event stream is a model failure', async () => {
    await start('openai', [{ json: { hello: 'world' } }])
    expect((await proxy.call()).body['error']).toBe('openai did not answer with an event stream')
  })

  test('a call is not retried once the run is over', async () => {
    await start('openai', [{ status: 500 }])
    const asked = proxy.call()
    await expect.poll(() => proxy.logged()).toContain('model failed')
    proxy.abort()
    expect(await asked).toMatchObject({ status: 409, body: { error: 'this run is over' } })
    expect(provider.seen).toHaveLength(1)
  })
})

describe('cost ceiling', () => {
  test('a call that could exceed the ceiling is refused before it is sent', async () => {
    await start('anthropic', [whole('anthropic')], {}, { maxCostMicros: 100_000, spentMicros: 95_000 })
    const response = await proxy.call()
    expect(response).toMatchObject({ status: 402, body: { error: 'cost ceiling reached: 0.095 of 0.1 usd spent' } })
    expect(proxy.run.failure?.reason).toBe('cost_exceeded')
    expect(provider.seen).toHaveLength(0)
    expect(proxy.run.reservedMicros).toBe(0)
  })

  test('the token limit of an answer is lowered to what the task can pay', async () => {
    await start('anthropic', [whole('anthropic')], {}, { maxCostMicros: 20_000 })
    await proxy.call({ ...helloRequest, max_tokens: 100_000 })
    const given = Number(provider.seen[0]?.body['max_tokens'])
    expect(given).toBeGreaterThan(256)
    expect(given * 15).toBeLessThan(20_000)
  })

  test('concurrent calls together stay below the ceiling', async () => {
    await start('anthropic', [whole('anthropic')], {}, { maxCostMicros: 25_000 })
    const response = await Promise.all([proxy.call(), proxy.call(), proxy.call(), proxy.call()])
    const statuses = response.map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses).toContain(402)
    expect(proxy.run.spentMicros).toBeLessThanOrEqual(25_000)
    expect(proxy.run.reservedMicros).toBe(0)
  })

  test('the ceiling is the reported reason when it truncated the answer', async () => {
    const reply = { chunks: [providerStreams.anthropic({ text: 'hi', stop: 'max_tokens' })] }
    await start('anthropic', [reply], {}, { maxCostMicros: 20_000 })
    await proxy.call({ ...helloRequest, max_tokens: 100_000 })
    expect(proxy.run.failure?.reason).toBe('cost_exceeded')
  })

  test('an answer that reached its own limit is not reported as cost exceeded', async () => {
    await start('anthropic', [{ chunks: [providerStreams.anthropic({ text: 'hi', stop: 'max_tokens' })] }])
    await proxy.call()
    expect(proxy.run.failure?.reason).toBe('model_failed')
  })

  test('a request without a token limit gets one, in the field that the model expects', async () => {
    const { max_tokens: _, ...unbounded } = helloRequest
    await start('openai', [whole('openai')], { SVC_MODEL: 'openai/gpt-5-mini' })
    await proxy.call(unbounded)
    expect(provider.seen[0]?.body).toMatchObject({ max_completion_tokens: 16_384 })
    expect(provider.seen[0]?.body).not.toHaveProperty('max_tokens')
  })

  test('SVC_MODEL_MAX_TOKENS limits every answer', async () => {
    const { max_tokens: _, ...unbounded } = helloRequest
    await start('anthropic', [whole('anthropic')], { SVC_MODEL_MAX_TOKENS: '2000' })
    for (const request of [unbounded, { ...helloRequest, max_tokens: 9000 }, { ...helloRequest, max_tokens: 100 }]) {
      await proxy.call(request)
    }
    expect(provider.seen.map(({ body }) => body['max_tokens'])).toEqual([2000, 2000, 100])
  })

  test('a model without a known price counts at an assumed price and is charged as unpriced', async () => {
    const env = { SVC_MODEL: 'openai/llama-4', OPENAI_API_KEY: '' }
    await start('openai', [whole('openai')], env, { maxCostMicros: 50_000 })
    await proxy.call()
    expect(await proxy.charges()).toEqual([
      {
        provider: 'openai',
        model: 'llama-4',
        ...REPLY_DETAILS.openai,
        ...STREAMED_CHARGE,
        cost_usd: 0,
        total_usd: 0,
        unpriced: true,
      },
    ])
    expect(provider.seen[0]?.headers).not.toHaveProperty('authorization')
    expect(proxy.run.spentMicros).toBe(800 * 5 + 200 * 0.5 + 100 * 25)
    proxy.run.spentMicros = 49_000
    expect((await proxy.call()).body['error']).toMatch(/^cost ceiling reached: .*no known price/)
  })
})

describe('requests of the sandbox', () => {
  test.each([
    ['the format of another provider', 'openai', 'v1/chat/completions'],
    ['the list of models', 'anthropic', 'v1/models'],
    ['batches', 'anthropic', 'v1/messages/batches'],
    ['a path with ..', 'anthropic', 'v1/messages/../files'],
  ] as const)('a request for %s is not found', async (_, wire, path) => {
    await start('anthropic', [whole('anthropic')])
    expect((await proxy.call(helloRequest, { wire, path })).status).toBe(404)
    expect(provider.seen).toHaveLength(0)
  })

  const url = 'https://attacker.example/?data=secret'
  const content = (block: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [block] }] })
  test.each<[string, JsonObject]>([
    ['a web search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['a web fetch', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
    ['code execution at the provider', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
    ['an image by URL', content({ type: 'image', source: { type: 'url', url } })],
    ['a document by URL', content({ type: 'document', source: { type: 'url', url } })],
    ['a file of the account', content({ type: 'document', source: { type: 'file', file_id: 'file_1' } })],
    ['an image by URL, OpenAI format', content({ type: 'image_url', image_url: { url } })],
    ['an upload into a container', content({ type: 'container_upload', file_id: 'file_1' })],
    [
      'a URL inside a tool result',
      content({ type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url } }] }),
    ],
  ])('a request with %s is refused, because the provider would access the network', async (_, more) => {
    await start('anthropic', [whole('anthropic')])
    expect((await proxy.call({ ...helloRequest, ...more })).status).toBe(400)
    expect(provider.seen).toHaveLength(0)
    expect(proxy.run.reservedMicros).toBe(0)
  })

  test('tools of the caller and inline content are passed on', async () => {
    await start('anthropic', [whole('anthropic')])
    const body: JsonObject = {
      tools: [
        { name: 'act', input_schema: {} },
        { type: 'bash_20250124', name: 'bash' },
      ],
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'act', input: { url } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'ok' }] },
      ],
      output_config: { format: { type: 'json_schema', schema: {} } },
    }
    await proxy.call({ ...helloRequest, ...body })
    expect(provider.seen[0]?.body).toMatchObject(body)
  })
})

const anthropicError = (error: JsonObject) =>
  `${providerStreams.anthropic({ text: 'hello' }).split('event: content_block_stop')[0]}event: error\ndata: ${JSON.stringify(error)}\n\n`

/** The charge follows the disconnect within a few turns of the event loop. */
const settled = () => expect.poll(() => proxy.run.reservedMicros).toBe(0)
