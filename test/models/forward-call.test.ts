import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import type { ModelProvider } from '../../src/contract/agent-protocol.ts'
import { type ModelProxy, helloRequest, openModelProxy } from './model-proxy.ts'
import { smallChunks, type FakeProvider, type ProviderReply, fakeProvider, providerStreams } from './fake-provider.ts'

const KEYS = { ANTHROPIC_API_KEY: 'canary-anthropic-key', OPENAI_API_KEY: 'canary-openai-key' }
const MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-4o' }
/** 800 fresh and 200 cached tokens in, 100 out, at the price of these models. */
const MICROS = { anthropic: 800 * 3 + 200 * 0.3 + 100 * 15, openai: 800 * 2.5 + 200 * 1.25 + 100 * 10 }

let desk: ModelProxy
let provider: FakeProvider

async function start(
  wire: ModelProvider,
  replies: ProviderReply[],
  more: Record<string, string> = {},
  run = {},
): Promise<void> {
  provider = await fakeProvider(...replies)
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  desk = await openModelProxy({ ...KEYS, ...addresses, SVC_MODEL: `${wire}/${MODELS[wire]}`, ...more }, run)
}

const whole = (wire: ModelProvider, turn = { text: 'Grüße aus Köln 🙂, all is well' }): ProviderReply => ({
  chunks: [providerStreams[wire](turn)],
})

describe.each(['anthropic', 'openai'] as const)('a model call on the %s wire', (wire) => {
  test('comes back unchanged, however the pieces fall', async () => {
    const text = providerStreams[wire]({ text: 'Grüße aus Köln 🙂', call: { name: 'finish', input: { output: 'né' } } })
    await start(wire, [{ chunks: smallChunks(text) }])
    const heard = await desk.call()
    expect(heard).toMatchObject({ status: 200, text, whole: true })
    expect(heard.headers['content-type']).toMatch(/^text\/event-stream/)
    expect(desk.run.failure).toBeNull()
  })

  test('is charged by what the provider reports', async () => {
    await start(wire, [{ chunks: smallChunks(providerStreams[wire]({ text: 'hi' })) }])
    await desk.call()
    const usd = MICROS[wire] / 1e6
    expect(await desk.charges()).toEqual([
      { model: MODELS[wire], input_tokens: 1000, output_tokens: 100, cost_usd: usd, total_usd: usd },
    ])
    expect(await desk.costMicros()).toBe(MICROS[wire])
    expect(desk.run).toMatchObject({ spentMicros: MICROS[wire], reservedMicros: 0 })
  })

  test('is charged before the agent hears the last word, so that it cannot end the task uncharged', async () => {
    await start(wire, [{ chunks: smallChunks(providerStreams[wire]({ text: 'hi' })) }])
    let spentAtStop = -1
    await desk.call(helloRequest, {
      onChunk: (text) => {
        if (spentAtStop < 0 && /"(stop_reason|finish_reason)":".*\n\n/.test(text)) spentAtStop = desk.run.spentMicros
        return undefined
      },
    })
    expect(spentAtStop).toBe(MICROS[wire])
  })

  test('goes to the run’s model with the real key and nothing of the sandbox’s credentials', async () => {
    await start(wire, [whole(wire)])
    const heard = await desk.call(
      { ...helloRequest, n: 4, user: 'me' },
      { headers: { cookie: 'a=b', 'anthropic-beta': 'x-1' } },
    )
    const [seen] = provider.seen
    expect(seen?.body).toMatchObject({ model: MODELS[wire], messages: helloRequest['messages'], stream: true })
    expect(seen?.body).not.toHaveProperty('n')
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
    expect(heard.text + JSON.stringify(heard.headers) + desk.logged()).not.toContain('canary')
  })

  test('may come in one piece and is charged all the same', async () => {
    const usage =
      wire === 'anthropic'
        ? { input_tokens: 800, cache_read_input_tokens: 200, output_tokens: 100 }
        : { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 200 } }
    await start(wire, [{ json: { content: 'hi', usage } }])
    const heard = await desk.call({ ...helloRequest, stream: false })
    expect(heard).toMatchObject({ status: 200, body: { content: 'hi' } })
    expect(await desk.costMicros()).toBe(MICROS[wire])
    expect(desk.run.reservedMicros).toBe(0)
  })

  test('keeps its connection for the next one', async () => {
    await start(wire, [whole(wire)])
    for (let i = 0; i < 3; i++) await desk.call()
    expect(provider.seen).toHaveLength(3)
    expect(provider.sockets()).toBe(1)
  })

  test('that is cut off is cut off for the agent, charged by what went past, and fails the model', async () => {
    const text = providerStreams[wire]({ text: 'x'.repeat(400) })
    await start(wire, [{ chunks: [text.slice(0, Math.floor(text.length * 0.7))], ending: 'cut' }])
    const heard = await desk.call()
    expect(heard.whole).toBe(false)
    const [charge] = await desk.charges()
    expect(charge?.['output_tokens']).toBeGreaterThanOrEqual(50)
    expect(charge?.['cost_usd']).toBeGreaterThan(0)
    expect(desk.run.failure).toEqual({ reason: 'model_failed', message: `model failed: ${wire} cut its answer off` })
    expect(desk.run.reservedMicros).toBe(0)
  })

  test('that ends tidily without an answer’s end fails as well', async () => {
    const text = providerStreams[wire]({ text: 'hello there' })
    await start(wire, [{ chunks: [text.slice(0, text.indexOf('there'))] }])
    expect((await desk.call()).whole).toBe(false)
    expect(desk.run.failure?.reason).toBe('model_failed')
  })

  test('whose connection breaks only after the last word is whole', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' })], ending: 'cut' }])
    expect(await desk.call()).toMatchObject({ status: 200, whole: true })
    expect(desk.run.failure).toBeNull()
  })

  test('does not wait for a provider that dawdles after the last word', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' })], ending: 'stay' }])
    expect(await desk.call()).toMatchObject({ status: 200, whole: true })
    desk.clock.jump(1000)
    await provider.seen[0]?.closed
  })

  test('with a malformed frame passes it on, meters the rest and names the fault', async () => {
    const text = `data: {"broken\n\n${providerStreams[wire]({ text: 'hi' })}`
    await start(wire, [{ chunks: [text] }])
    expect((await desk.call()).text).toBe(text)
    expect(await desk.costMicros()).toBe(MICROS[wire])
    expect(desk.run.failure?.message).toBe(`model failed: ${wire} sent a malformed event`)
  })

  test('that falls silent ends after two minutes', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' }).slice(0, 120)], ending: 'stay' }])
    const heard = await desk.clock.until(desk.call(), 30_000)
    expect(heard.whole).toBe(false)
    expect(desk.run.failure?.message).toBe(`model failed: ${wire} fell silent in the middle of its answer`)
    await provider.seen[0]?.closed
  })

  test('ends at the provider when the agent hangs up', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' }).slice(0, 120)], ending: 'stay' }])
    await desk.call(helloRequest, { onChunk: () => true }).catch(() => {})
    await provider.seen[0]?.closed
    await settled()
    expect(await desk.charges()).toHaveLength(1)
    expect(desk.run.failure).toBeNull()
  })

  test('ends at the provider when the run is over, and is charged no more', async () => {
    await start(wire, [{ chunks: [providerStreams[wire]({ text: 'hi' }).slice(0, 120)], ending: 'stay' }])
    await desk.setStatus('cancelled')
    const heard = await desk.call(helloRequest, {
      onChunk: () => {
        desk.abort()
        return undefined
      },
    })
    expect(heard.whole).toBe(false)
    await provider.seen[0]?.closed
    expect(await desk.charges()).toEqual([])
  })

  test('does not read ahead for an agent that does not read', async () => {
    const frame = `: ${'x'.repeat(1 << 16)}\n\n`
    const flood = Array.from({ length: 1024 }, () => frame)
    await start(wire, [{ chunks: flood }])
    void desk.call(helloRequest, { deaf: true }).catch(() => {})
    let before = 0
    const stalls = () => before > 0 && provider.written() === before
    while (!stalls()) {
      before = provider.written()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(provider.written()).toBeLessThan(512)
    desk.abort()
    await provider.seen[0]?.closed
  })
})

describe('a provider that fails', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'canary-anthropic-key is busy' } }

  test.each([500, 502, 503, 529, 429, 408])('with %i is asked again until it answers', async (status) => {
    await start('anthropic', [{ status, json: overloaded }, { status, json: overloaded }, whole('anthropic')])
    desk.clock.hurry = true
    expect(await desk.call()).toMatchObject({ status: 200, whole: true })
    expect(provider.seen).toHaveLength(3)
    expect(desk.run.failure).toBeNull()
    expect(await desk.costMicros()).toBe(MICROS.anthropic)
  })

  test('four times fails the model, with its status and word but not its sentences', async () => {
    await start('anthropic', [{ status: 529, json: overloaded }])
    desk.clock.hurry = true
    const heard = await desk.call()
    const sentence = 'anthropic answered 529 (overloaded_error) after 4 tries'
    expect(heard).toMatchObject({ status: 502, body: { error: sentence } })
    expect(desk.run.failure).toEqual({ reason: 'model_failed', message: `model failed: ${sentence}` })
    expect(provider.seen).toHaveLength(4)
    expect(desk.clock.waits.map((ms) => Math.floor(ms / 500))).toEqual([1, 2, 4])
    expect(desk.run.reservedMicros).toBe(0)
    expect(await desk.charges()).toEqual([])
    expect(heard.text + desk.logged()).not.toContain('canary')
  })

  test.each([
    ['in seconds', { 'retry-after': '7' }, 7000],
    ['as a date', { 'retry-after': new Date(1_800_000_009_000).toUTCString() }, 9000],
    ['in milliseconds', { 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  ])('is given the time that it asks for %s', async (_, headers, wait) => {
    await start('openai', [{ status: 429, headers }, whole('openai')])
    desk.clock.hurry = true
    await desk.call()
    expect(desk.clock.waits[0]).toBe(wait)
  })

  test('and asks for an hour is not waited for', async () => {
    await start('openai', [{ status: 429, headers: { 'retry-after': '3600' } }])
    expect((await desk.call()).body['error']).toBe('openai answered 429 and asks to wait 3600 s')
  })

  test('because the quota is used up is not asked again', async () => {
    await start('openai', [{ status: 429, json: { error: { code: 'insufficient_quota', message: 'no money' } } }])
    expect((await desk.call()).body['error']).toBe('openai answered 429 (insufficient_quota)')
  })

  test.each([
    [400, 'openai answered 400 (invalid_request_error)'],
    [401, 'openai answered 401 (invalid_request_error); check OPENAI_API_KEY'],
    [404, 'openai answered 404 (invalid_request_error); check SVC_MODEL and OPENAI_BASE_URL'],
    [302, 'openai answered 302 (invalid_request_error)'],
  ])('with %i is not asked again', async (status, sentence) => {
    const error = { type: 'invalid_request_error', message: `bad key ${KEYS.OPENAI_API_KEY}` }
    await start('openai', [{ status, json: { error }, headers: { location: 'http://127.0.0.1:1/' } }])
    const heard = await desk.call()
    expect(heard.body['error']).toBe(sentence)
    expect(provider.seen).toHaveLength(1)
    expect(heard.text + desk.logged()).not.toContain('canary')
  })

  test('by breaking the connection before a word is asked again', async () => {
    await start('openai', [{ drop: true }, { chunks: [], ending: 'cut' }, whole('openai')])
    desk.clock.hurry = true
    expect(await desk.call()).toMatchObject({ status: 200, whole: true })
  })

  test('by not being there is told with the way to mend it', async () => {
    await start('openai', [whole('openai')], { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })
    desk.clock.hurry = true
    expect((await desk.call()).body['error']).toBe(
      'openai could not be reached (ECONNREFUSED) after 4 tries; check SVC_MODEL and OPENAI_BASE_URL',
    )
  })

  test('by saying nothing at all is given two minutes', async () => {
    await start('openai', [{ chunks: [], ending: 'stay' }])
    const heard = await desk.clock.until(desk.call(), 30_000)
    expect(heard.body['error']).toMatch(/^openai sent nothing for 120 s/)
    expect(desk.run.reservedMicros).toBe(0)
  })

  test('in the middle of a stream is told by its own word', async () => {
    const text = anthropicError(overloaded)
    await start('anthropic', [{ chunks: [text] }])
    expect((await desk.call()).text).toBe(text)
    expect(desk.run.failure?.message).toBe('model failed: anthropic broke off (overloaded_error)')
  })

  test('with a page instead of a stream', async () => {
    await start('openai', [{ json: { hello: 'world' } }])
    expect((await desk.call()).body['error']).toBe('openai did not answer with an event stream')
  })

  test('is not asked again once the run is over', async () => {
    await start('openai', [{ status: 500 }])
    const asked = desk.call()
    await expect.poll(() => desk.logged()).toContain('model failed')
    desk.abort()
    expect(await asked).toMatchObject({ status: 409, body: { error: 'this run is over' } })
    expect(provider.seen).toHaveLength(1)
  })
})

describe('the ceiling', () => {
  test('refuses the call that could break it before it leaves', async () => {
    await start('anthropic', [whole('anthropic')], {}, { maxCostMicros: 100_000, spentMicros: 95_000 })
    const heard = await desk.call()
    expect(heard).toMatchObject({ status: 402, body: { error: 'cost ceiling reached: 0.095 of 0.1 usd are spent' } })
    expect(desk.run.failure?.reason).toBe('cost_exceeded')
    expect(provider.seen).toHaveLength(0)
    expect(desk.run.reservedMicros).toBe(0)
  })

  test('gives an answer only the room that can be paid', async () => {
    await start('anthropic', [whole('anthropic')], {}, { maxCostMicros: 20_000 })
    await desk.call({ ...helloRequest, max_tokens: 100_000 })
    const given = Number(provider.seen[0]?.body['max_tokens'])
    expect(given).toBeGreaterThan(256)
    expect(given * 15).toBeLessThan(20_000)
  })

  test('holds for calls side by side', async () => {
    await start('anthropic', [whole('anthropic')], {}, { maxCostMicros: 25_000 })
    const heard = await Promise.all([desk.call(), desk.call(), desk.call(), desk.call()])
    const statuses = heard.map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses).toContain(402)
    expect(desk.run.spentMicros).toBeLessThanOrEqual(25_000)
    expect(desk.run.reservedMicros).toBe(0)
  })

  test('is told as the reason when it cut the answer short', async () => {
    const reply = { chunks: [providerStreams.anthropic({ text: 'hi', stop: 'max_tokens' })] }
    await start('anthropic', [reply], {}, { maxCostMicros: 20_000 })
    await desk.call({ ...helloRequest, max_tokens: 100_000 })
    expect(desk.run.failure?.reason).toBe('cost_exceeded')
  })

  test('is not blamed for an answer that reached its own limit', async () => {
    await start('anthropic', [{ chunks: [providerStreams.anthropic({ text: 'hi', stop: 'max_tokens' })] }])
    await desk.call()
    expect(desk.run.failure?.reason).toBe('model_failed')
  })

  test('bounds an answer for which nobody asked a bound, by the name that the model knows', async () => {
    const { max_tokens: _, ...unbounded } = helloRequest
    await start('openai', [whole('openai')], { SVC_MODEL: 'openai/gpt-5-mini' })
    await desk.call(unbounded)
    expect(provider.seen[0]?.body).toMatchObject({ max_completion_tokens: 16_384 })
    expect(provider.seen[0]?.body).not.toHaveProperty('max_tokens')
  })

  test('counts a model without a price at an assumed one, and charges it as unpriced, not as free', async () => {
    const env = { SVC_MODEL: 'openai/llama-4', OPENAI_API_KEY: '' }
    await start('openai', [whole('openai')], env, { maxCostMicros: 50_000 })
    await desk.call()
    expect(await desk.charges()).toEqual([
      { model: 'llama-4', input_tokens: 1000, output_tokens: 100, cost_usd: 0, total_usd: 0, unpriced: true },
    ])
    expect(provider.seen[0]?.headers).not.toHaveProperty('authorization')
    expect(desk.run.spentMicros).toBe(800 * 5 + 200 * 0.5 + 100 * 25)
    desk.run.spentMicros = 49_000
    expect((await desk.call()).body['error']).toMatch(/^cost ceiling reached: .*no known price/)
  })
})

describe('the sandbox', () => {
  test.each([
    ['another wire', 'openai', 'v1/chat/completions'],
    ['the list of models', 'anthropic', 'v1/models'],
    ['batches', 'anthropic', 'v1/messages/batches'],
    ['a path that climbs', 'anthropic', 'v1/messages/../files'],
  ] as const)('cannot reach %s', async (_, wire, path) => {
    await start('anthropic', [whole('anthropic')])
    expect((await desk.call(helloRequest, { wire, path })).status).toBe(404)
    expect(provider.seen).toHaveLength(0)
  })

  const url = 'https://attacker.example/?data=secret'
  const content = (block: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [block] }] })
  test.each<[string, JsonObject]>([
    ['a web search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['a web fetch', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
    ['code at the provider', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
    ['an image by address', content({ type: 'image', source: { type: 'url', url } })],
    ['a document by address', content({ type: 'document', source: { type: 'url', url } })],
    ['a file of the account', content({ type: 'document', source: { type: 'file', file_id: 'file_1' } })],
    ['an image by address on the other wire', content({ type: 'image_url', image_url: { url } })],
    ['an upload into a container', content({ type: 'container_upload', file_id: 'file_1' })],
    [
      'an address inside a tool result',
      content({ type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url } }] }),
    ],
  ])('cannot use the provider as its way out: %s', async (_, more) => {
    await start('anthropic', [whole('anthropic')])
    expect((await desk.call({ ...helloRequest, ...more })).status).toBe(400)
    expect(provider.seen).toHaveLength(0)
    expect(desk.run.reservedMicros).toBe(0)
  })

  test('cannot hand servers, tiers or containers to the provider', async () => {
    await start('anthropic', [whole('anthropic')])
    const more = { mcp_servers: [{ url }], service_tier: 'priority', container: 'c', speed: 'fast', metadata: {} }
    await desk.call({ ...helloRequest, ...more })
    for (const field of Object.keys(more)) expect(provider.seen[0]?.body).not.toHaveProperty(field)
  })

  test('may send its own tools and content', async () => {
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
    await desk.call({ ...helloRequest, ...body })
    expect(provider.seen[0]?.body).toMatchObject(body)
  })
})

const anthropicError = (error: JsonObject) =>
  `${providerStreams.anthropic({ text: 'hello' }).split('event: content_block_stop')[0]}event: error\ndata: ${JSON.stringify(error)}\n\n`

/** The charge follows the hang-up within a few turns of the event loop. */
const settled = () => expect.poll(() => desk.run.reservedMicros).toBe(0)
