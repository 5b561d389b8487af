import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSourceFile, forEachChild, isInterfaceDeclaration, type Node, ScriptTarget } from 'typescript'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import type { ModelApi } from '../../../src/platform/contract/providers/provider-formats.ts'
import { REQUEST_RULES } from '../../../src/execution/models/request-rules.ts'
import { page } from '../../docs/pages.ts'
import { SDK_ROOT } from '../../sdk-packages.ts'
import { fakeProvider } from './fake-provider.ts'
import { helloRequest, openModelProxy } from './model-proxy.ts'

const APIS: readonly ModelApi[] = ['anthropic', 'openai', 'responses']
const PATHS = { anthropic: 'v1/messages', openai: 'v1/chat/completions', responses: 'v1/responses' }

function classesOf(api: ModelApi): Record<string, readonly string[]> {
  const { forwarded, replaced, dropped, refused } = REQUEST_RULES[api]
  const { labels, prices, hints } = dropped
  return { forwarded, replaced, labels, prices, hints, refused: Object.keys(refused) }
}

describe.each([
  ['anthropic', '@anthropic-ai/sdk', 'resources/messages/messages.d.ts', 'MessageCreateParamsBase'],
  ['anthropic', '@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts', 'MessageCreateParamsBase'],
  ['openai', 'openai', 'resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase'],
  ['responses', 'openai', 'resources/responses/responses.d.ts', 'ResponseCreateParamsBase'],
] as const)('%s: %s, %s', (api, name, file, type) => {
  test('every field of a request that the library knows has a class', () => {
    const fields = fieldsOfInterface(join(SDK_ROOT, 'node_modules', name, file), type).filter(
      (field) => !HEADERS.includes(field),
    )
    expect(fields).toContain('metadata')
    const known = Object.values(classesOf(api)).flat()
    expect(fields.filter((field) => !known.includes(field))).toEqual([])
  })
})

/** The library of Anthropic sends these parameters as headers. */
const HEADERS = ['betas', 'user_profile_id', 'workspace_id']

function fieldsOfInterface(file: string, name: string): string[] {
  const source = createSourceFile(file, readFileSync(file, 'utf8'), ScriptTarget.Latest)
  const fields: string[] = []
  forEachChild(source, (node: Node) => {
    if (isInterfaceDeclaration(node) && node.name.text === name)
      for (const member of node.members) fields.push(member.name?.getText(source) ?? '')
  })
  return fields
}

test('docs/models.md has the class of every field', () => {
  const rows = page('docs/models.md').matchAll(/^\| (.+?) \| (`.*|–) \| (`.*|–) \| (`.*|–) \|$/gm)
  const cells = [...rows].map(([, , ...columns]) => columns.map((cell) => (cell ?? '').match(/\w+/g) ?? []))
  const written = APIS.map((_, column) => cells.map((row) => [...(row[column] ?? [])].toSorted()))
  expect(written).toEqual(APIS.map((api) => Object.values(classesOf(api)).map((fields) => fields.toSorted())))
})

async function startProxy(api: ModelApi) {
  const provider = await fakeProvider({ json: {} })
  const wire = api === 'anthropic' ? 'anthropic' : 'openai'
  const proxy = await openModelProxy({
    SVC_MODEL: `${wire}/some-model`,
    ANTHROPIC_BASE_URL: provider.url,
    OPENAI_BASE_URL: provider.url,
  })
  const base: JsonObject = api === 'responses' ? { input: 'hello' } : { messages: helloRequest['messages'] ?? [] }
  const send = (more: JsonObject, path = PATHS[api]) => proxy.call({ ...base, ...more }, { path })
  return { provider, proxy, send }
}

test.each(APIS)(
  '%s: a field that changes the meaning is a 400 in the form of the provider, and labels are not passed on',
  async (api) => {
    const { provider, proxy, send } = await startProxy(api)
    const { refused, labels = [] } = classesOf(api)
    for (const field of [...(refused ?? []), 'invented_field']) {
      const { status, body } = await send({ [field]: 'x' })
      const message = expect.stringContaining(`field '${field}' `)
      const error = { type: 'invalid_request_error', message }
      expect({ status, body }).toMatchObject({
        status: 400,
        body: api === 'anthropic' ? { type: 'error', error } : { error: { ...error, param: field, code: null } },
      })
    }
    expect(provider.seen).toEqual([])
    expect(proxy.run.failure?.message).toMatch(/^model call refused: field 'invented_field' is unknown/)
    const { headers } = await send({ metadata: { a: 'b' }, service_tier: null })
    expect(labels).toContain('metadata')
    expect(headers['x-svc-dropped-fields']).toBe('metadata')
    expect(provider.seen[0]?.body).not.toHaveProperty('metadata')
  },
)

test.each<[ModelApi, JsonObject]>([
  ['openai', { n: 1, modalities: ['text'], functions: [] }],
  ['responses', { store: false, background: false, previous_response_id: null }],
  ['anthropic', { thread: null, mcp_servers: [] }],
])('%s: values that the provider assumes by itself are accepted', async (api, fields) => {
  const { provider, send } = await startProxy(api)
  expect((await send(fields)).status).toBe(200)
  for (const field of Object.keys(fields)) expect(provider.seen[0]?.body[field] ?? false).toBe(false)
})

test('a message thread is refused with the details that let the library go on without it, also in a rehearsal', async () => {
  const { send } = await startProxy('anthropic')
  const rehearsal = await openModelProxy({})
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  const refusal = { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', details } } }
  const thread = { type: 'continue', previous_message_id: 'msg_1' }
  expect(await send({ thread })).toMatchObject(refusal)
  expect(await send({ thread }, 'v1/messages/count_tokens')).toMatchObject(refusal)
  expect(await rehearsal.call({ ...helloRequest, thread }, { wire: 'anthropic' })).toMatchObject(refusal)
})

test('edits of the context that remove something are passed on, and those that write a summary are refused', async () => {
  const { provider, send } = await startProxy('anthropic')
  const edits = [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 } }]
  await send({ context_management: { edits } })
  expect(provider.seen[0]?.body).toMatchObject({ context_management: { edits } })
  const { status, body } = await send({ context_management: { edits: [{ type: 'compact_20260112' }] } })
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("edits of type 'compact_20260112'")])
})
