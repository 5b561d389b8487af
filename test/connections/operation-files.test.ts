import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendAction } from '../../src/connections/actions/send-action.ts'
import { sharedGatedApp, startAction } from '../approvals/decisions/gated-app.ts'
import { addFile } from '../work/files/add-file.ts'
import { ACTIVE_RUN, insertTestConnection, openTestContext, openUpstreamServer, PROJECT } from './test-context.ts'
import { addShop, SHOP_OPERATIONS, shopWedgeFiles } from './operations-app.ts'

/** `text` needs a text, which a file may stand for; `url` is not part of the body. */
const FILE_OPERATIONS = [
  {
    name: 'create.document',
    method: 'POST',
    path: '/documents',
    input_schema: {
      type: 'object',
      properties: { title: { type: 'string' }, content: { type: 'string' }, pages: { type: 'integer' } },
      required: ['content'],
      additionalProperties: false,
    },
  },
  { name: 'update.document', method: 'PUT', path: '/documents/{id}', query: { note: '{note}' } },
]

describe('a file in the payload of an operation', () => {
  const app = sharedGatedApp('sqlite', {
    wedges: shopWedgeFiles({
      policy: {
        auto_approve: ['create', 'upload', 'create.document', 'update.document'].map((name) => ({
          action: `shop:${name}`,
        })),
      },
    }),
  })
  beforeAll(() => addShop(app(), [...SHOP_OPERATIONS, ...FILE_OPERATIONS]))
  beforeEach(() => {
    app().outside.received.length = 0
  })

  const perform = async (operation: string, payload: object) => {
    const { id } = await startAction(app(), { connection: 'shop', action: `shop:${operation}`, payload })
    return (await app().finished(id)).output
  }

  test('is a part with its name and type in a multipart body', async () => {
    const file = await addFile(app(), 'Bericht "März".csv', 'a;b\r\n1;2')
    expect(await perform('upload', { title: 'T', list: [{ file: { $file: file.id } }] })).toMatchObject({ ok: true })
    const [request] = app().outside.received
    const sent = await new Response(request?.body, {
      headers: { 'content-type': String(request?.headers['content-type']) },
    }).formData()
    expect([...sent.keys()]).toEqual(['title', 'list[0][file]'])
    const part = sent.get('list[0][file]')
    if (!(part instanceof File)) throw new Error('the part is not a file')
    expect([part.name, part.type, await part.text()]).toEqual(['Bericht "März".csv', 'text/csv', 'a;b\r\n1;2'])
  })

  test('is base64 text in a form and in JSON, also where the schema wants a text', async () => {
    const file = await addFile(app(), 'a.txt', 'alpha?>')
    await perform('create', { receipt: { $file: file.id } })
    await perform('create.document', { title: 'T', content: { $file: file.id } })
    const [form, json] = app().outside.received.map(({ body }) => body)
    expect(Object.fromEntries(new URLSearchParams(form))).toEqual({ receipt: 'YWxwaGE/Pg==' })
    expect(JSON.parse(json ?? '')).toEqual({ title: 'T', content: 'YWxwaGE/Pg==' })
  })

  test.each([
    ['create.document', { content: 'x', pages: { $file: 'ID' } }, "field 'payload.pages' must be integer, not object"],
    [
      'update.document',
      { id: { $file: 'ID' }, text: 'x' },
      "field 'id' must not be a file: it is not part of the body",
    ],
    [
      'update.document',
      { id: 'd', note: { $file: 'ID' } },
      "field 'note' must not be a file: it is not part of the body",
    ],
  ])('cannot be sent by %s as %j', async (operation, payload, error) => {
    const file = await addFile(app(), 'a.txt', 'alpha')
    const output = await perform(operation, JSON.parse(JSON.stringify(payload).replaceAll('ID', file.id)))
    expect(JSON.stringify(output)).toContain(error)
    expect(app().outside.received).toEqual([])
  })
})

test('an action that sends files has more time', async () => {
  const { ctx, clock } = await openTestContext()
  const server = await openUpstreamServer(() => {})
  const hook = await insertTestConnection(ctx, { kind: 'webhook', name: 'hook', config: { url: server.url } })
  const { id: $file, name, sha256 } = await addFile({ ctx }, 'a.bin', Buffer.alloc(4_000_000), { projectId: PROJECT })
  const action = { capability: 'hook', idempotencyKey: 'apr_1', runSignal: ACTIVE_RUN }
  const results: string[] = []
  const send = async (kind: string, payload: object) => {
    const { error } = await sendAction(ctx, hook, { ...action, payload: JSON.parse(JSON.stringify(payload)) })
    results.push(`${kind}: ${error}`)
  }
  const sent = [send('file', { file: { $file, name, sha256 } }), send('text', { text: 'hello' })]
  await expect.poll(() => server.received.length).toBe(2)
  await clock.advance(21_000)
  await expect.poll(() => results).toEqual(['text: the server did not respond in time'])
  await clock.advance(10_000)
  await Promise.all(sent)
  expect(results[1]).toBe('file: the server did not respond in time')
})
