import { describe, expect, test } from 'vitest'
import { objectListField } from '../../../src/platform/base/json-fields.ts'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import type { ModelProvider } from '../../../src/platform/contract/agent-protocol.ts'
import { storeFile } from '../../../src/work/files/store-file.ts'
import { deleteFile } from '../../../src/work/files/delete-file.ts'
import { createVault } from '../../../src/identity/vault/vault.ts'
import { PNG, pdfWithPages } from '../../work/files/add-file.ts'
import { fakeProvider, type FakeProvider, type ProviderReply, providerStreams } from './fake-provider.ts'
import { type ModelProxy, openModelProxy } from './model-proxy.ts'

const MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-4o' }
/** The worst case of one image at $3 and $2.50 per million tokens. */
const IMAGE_MICROS = { anthropic: 10_000 * 3, openai: 50_000 * 2.5 }

let proxy: ModelProxy
let provider: FakeProvider

async function start(wire: ModelProvider, maxCostMicros: number, ...replies: ProviderReply[]): Promise<void> {
  const done: ProviderReply = { chunks: [providerStreams[wire]({ text: 'done' })] }
  provider = await fakeProvider(...replies, done)
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  const keys = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' }
  proxy = await openModelProxy({ ...keys, ...addresses, SVC_MODEL: `${wire}/${MODELS[wire]}` }, { maxCostMicros })
  // Storing a file needs more of the context than a model call.
  Object.assign(proxy.ctx, { fullProjects: new Set(), vault: createVault(Buffer.alloc(32, 1)) })
}

async function addRunFile(name: string, content: Buffer | string) {
  const owner = { projectId: 'prj_1', clientId: null, actor: { kind: 'key', id: 'key_1' } } as const
  const bytes = (async function* () {
    yield Buffer.from(content)
  })()
  const file = await storeFile(proxy.ctx, owner, { name }, bytes)
  proxy.run.files.push(file)
  return file
}

const request = (...ids: string[]): JsonObject => ({
  max_tokens: 1000,
  stream: true,
  messages: [
    {
      role: 'user',
      content: [...ids.map((file_id) => ({ type: 'svc_file', file_id })), { type: 'text', text: 'What is this?' }],
    },
  ],
})

/** The content of the first message that the provider got with its n-th request. */
const sentContent = (n = 0) => {
  const messages = objectListField(provider.seen[n]?.body ?? {}, 'messages')
  return messages[0]?.content
}

const note = (name: string, why: string) => ({ type: 'text', text: `[The file "${name}" is not shown: ${why}.]` })

describe.each(['anthropic', 'openai'] as const)('files in a model call, %s format', (wire) => {
  test('an image and a PDF are sent in the format of the provider', async () => {
    await start(wire, 5_000_000)
    const [image, pdf] = [await addRunFile('a.png', PNG), await addRunFile('b.pdf', pdfWithPages(2))]
    expect(await proxy.call(request(image.id, pdf.id))).toMatchObject({ status: 200 })
    const [png64, pdf64] = [PNG.toString('base64'), pdfWithPages(2).toString('base64')]
    const expected = {
      anthropic: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png64 } },
        { type: 'document', title: 'b.pdf', source: { type: 'base64', media_type: 'application/pdf', data: pdf64 } },
      ],
      openai: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png64}` } },
        { type: 'file', file: { filename: 'b.pdf', file_data: `data:application/pdf;base64,${pdf64}` } },
      ],
    }
    expect(sentContent()).toEqual([...expected[wire], { type: 'text', text: 'What is this?' }])
    expect(proxy.run).toMatchObject({ reservedMicros: 0, failure: null })
  })

  test('a file that the cost ceiling does not pay for is left out, and the call is made', async () => {
    await start(wire, 1.5 * IMAGE_MICROS[wire] + 20_000)
    const files = [await addRunFile('a.png', PNG), await addRunFile('b.png', PNG)]
    expect(await proxy.call(request(...files.map(({ id }) => id)))).toMatchObject({ status: 200 })
    expect(sentContent()).toMatchObject([
      { type: wire === 'anthropic' ? 'image' : 'image_url' },
      note('b.png', 'it could exceed the cost ceiling'),
      { type: 'text' },
    ])
  })

  test('the worst case of the files is reserved while the call runs', async () => {
    await start(wire, 5_000_000, { chunks: ['event: ping\n\n'], ending: 'stay' })
    const file = await addRunFile('a.pdf', pdfWithPages(3))
    const call = proxy.call(request(file.id))
    await expect.poll(() => provider.seen.length).toBe(1)
    expect(proxy.run.reservedMicros).toBeGreaterThan(3 * IMAGE_MICROS[wire])
    proxy.abort()
    await call.catch(() => {})
  })

  test('a model that takes no files gets the call again without them, and no files later', async () => {
    const refusal = { status: 400, json: { error: { message: 'images are not supported' } } }
    await start(wire, 5_000_000, refusal)
    const file = await addRunFile('a.png', PNG)
    expect(await proxy.call(request(file.id))).toMatchObject({ status: 200 })
    await proxy.call(request(file.id))
    expect(provider.seen).toHaveLength(3)
    const without = [note('a.png', 'the model does not take it'), { type: 'text', text: 'What is this?' }]
    expect([sentContent(1), sentContent(2)]).toEqual([without, without])
    expect(proxy.run.failure).toBeNull()
  })

  test('a refusal that is not about the files fails the call', async () => {
    await start(wire, 5_000_000, { status: 400, json: {} }, { status: 400, json: {} })
    const file = await addRunFile('a.png', PNG)
    expect(await proxy.call(request(file.id))).toMatchObject({ status: 502 })
    expect(provider.seen).toHaveLength(2)
  })
})

test('a file of another run, a type that models do not see, and a deleted file are not sent', async () => {
  await start('anthropic', 5_000_000)
  expect(await proxy.call(request('file_other'))).toMatchObject({ status: 400 })
  expect(provider.seen).toEqual([])
  const [text, gone] = [await addRunFile('a.csv', 'a;b'), await addRunFile('b.png', PNG)]
  await deleteFile(proxy.ctx, { kind: 'key', id: 'key_1' }, gone)
  await proxy.call(request(text.id, gone.id))
  expect(sentContent()).toMatchObject([
    note('a.csv', 'files of type text/csv cannot be shown'),
    note('b.png', 'it was deleted'),
    { type: 'text' },
  ])
})

test('a file in the result of a tool is sent too', async () => {
  await start('anthropic', 5_000_000)
  const { id } = await addRunFile('a.png', PNG)
  const content = [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'svc_file', file_id: id }] }]
  await proxy.call({ max_tokens: 100, stream: true, messages: [{ role: 'user', content }] })
  expect(sentContent()).toMatchObject([{ type: 'tool_result', content: [{ type: 'image' }] }])
})
