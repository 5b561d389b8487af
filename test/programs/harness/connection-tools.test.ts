import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import type { Brief, BriefTool } from '../../../src/platform/contract/agent-protocol.ts'
import { nameConnectionTools } from '../../../src/platform/contract/connection-tool-names.ts'
import { systemPrompt } from '../../../src/programs/harness/prompt.ts'
import { listToolSpecs } from '../../../src/programs/harness/tools/tools.ts'
import { type FakePlane, type FakePlaneReply, scriptedModel, startFakePlane, testBrief } from './fake-plane.ts'
import { eventData, runOneBrief } from './in-process-cell.ts'

let plane: FakePlane | undefined
afterEach(() => {
  plane?.close()
  plane = undefined
})

const tool = (connection: string, name: string, more: Partial<BriefTool> = {}): BriefTool => ({
  name,
  capability: `${connection}:${name}`,
  description: `Does ${name}.`,
  input_schema: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
  class: 'ask',
  ...more,
})

const shop = {
  name: 'shop',
  kind: 'custom',
  tools: [tool('shop', 'refunds.create'), tool('shop', 'refunds.send_list', { class: 'read' })],
}
const brief = testBrief({ tools: ['act', 'read', 'progress'], connections: [shop] })

async function use(
  name: string,
  input: JsonObject,
  reply: FakePlaneReply = { json: { ok: true } },
  more: Partial<Brief> = {},
) {
  const done = { calls: [{ name: 'finish', input: { output: 'done' } }] }
  plane = startFakePlane(scriptedModel([{ calls: [{ name, input }] }, done], () => reply))
  const lines = await runOneBrief(plane, { ...brief, ...more })
  return { lines, last: lines.at(-1), seen: plane.seen.filter((one) => !one.path.includes('/llm/')) }
}

test('each tool of a connection is offered with its own name, description and schema', () => {
  expect(listToolSpecs(brief)).toMatchObject([
    { name: 'progress' },
    {
      name: 'shop__refunds_create',
      description: expect.stringMatching(/^Does refunds\.create\. It may wait/),
      schema: shop.tools[0]?.input_schema,
    },
    { name: 'shop__refunds_send_list', description: 'Does refunds.send_list.' },
  ])
})

test('act and read are offered while a connection has no tools by name', () => {
  const names = (more: Partial<Brief>) => listToolSpecs({ ...brief, ...more }).map(({ name }) => name)
  expect(names({ connections: [shop, { name: 'mail', kind: 'email' }] })).toEqual([
    'act',
    'read',
    'progress',
    'shop__refunds_create',
    'shop__refunds_send_list',
  ])
  expect(names({ connections: [] })).toEqual(['act', 'read', 'progress'])
  expect(names({ connections: [{ ...shop, tools: [] }] })).toEqual(['progress'])
})

test('a call of an action by name goes to the action route, and its events show no payload', async () => {
  const { seen, lines, last } = await use('shop__refunds_create', { amount: 5 }, { json: { ok: true, status: 200 } })
  expect(seen).toMatchObject([
    {
      method: 'POST',
      path: '/v1/internal/actions/shop%3Arefunds.create',
      body: { connection: 'shop', payload: { amount: 5 } },
    },
  ])
  expect(eventData(lines, 'tool.called')).toMatchObject([
    { tool: 'shop__refunds_create', input: { capability: 'shop:refunds.create', connection: 'shop' } },
  ])
  expect(eventData(lines, 'tool.result')).toMatchObject([{ ok: true, output: { status: 200 } }])
  expect(last?.output).toBe('done')
})

test('a call of a read by name goes to the read route without the gate, unless the wedge requires it', async () => {
  const read = await use('shop__refunds_send_list', { amount: 1 })
  expect(read.seen).toMatchObject([
    { path: '/v1/internal/reads/shop%3Arefunds.send_list', body: { connection: 'shop', arguments: { amount: 1 } } },
  ])
  const gated = await use('shop__refunds_send_list', { amount: 1 }, undefined, {
    gate_patterns: ['send', 'SHOP:refunds.send_list'],
  })
  expect(gated.seen.map(({ path }) => path)).toEqual([
    '/v1/internal/gate',
    '/v1/internal/reads/shop%3Arefunds.send_list',
  ])
})

test('input against the schema of the tool is an error for the model, and nothing is sent', async () => {
  const { seen, lines } = await use('shop__refunds_create', { amount: 'all' })
  expect(seen).toEqual([])
  expect(eventData(lines, 'tool.result')).toMatchObject([{ ok: false, error: '$.amount must be integer, not string' }])
})

test('a rejected action by name ends the run, and an unknown name does not', async () => {
  const rejected = { status: 403, json: { error: 'approval rejected' } }
  expect((await use('shop__refunds_create', { amount: 5 }, rejected)).last?.error).toBe(
    'the action was refused: approval rejected',
  )
  const unknown = await use('shop__refunds_delete', {})
  expect(eventData(unknown.lines, 'tool.result')).toMatchObject([{ error: "there is no tool 'shop__refunds_delete'" }])
  expect(unknown.last?.output).toBe('done')
})

test('act still works for a connection with tools by name, because rehearsals use it', async () => {
  const { seen } = await use('act', { capability: 'shop:refunds.create', payload: { amount: 1 } })
  expect(seen).toMatchObject([{ path: '/v1/internal/actions/shop%3Arefunds.create' }])
})

test('the system prompt names the ways to act', () => {
  expect(systemPrompt(brief)).toContain('outside is one of the tools of the connections.')
  expect(systemPrompt(brief)).toContain('- shop (custom, its tools begin with shop__)')
  const mixed = { ...brief, connections: [shop, { name: 'mail', kind: 'email' }] }
  expect(systemPrompt(mixed)).toContain('outside is the tool act or one of the tools of the connections.')
})

describe('names for the model', () => {
  const namesOf = (...connections: [string, string[]][]) =>
    nameConnectionTools(
      connections.map(([name, tools]) => ({ name, kind: 'mcp', tools: tools.map((one) => tool(name, one)) })),
    ).map(({ toolName, capability }) => [capability, toolName])

  test('are valid for every provider, unique, and the same in any order', () => {
    const long = 'x'.repeat(80)
    const named = namesOf(['my shop', ['a.b', 'a_b', 'Größe', long, `${long}y`]], ['my.shop', ['a.b']])
    const names = named.map(([, name]) => name ?? '')
    expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    expect(named.find(([capability]) => capability === 'my shop:a.b')).toEqual(['my shop:a.b', 'my_shop__a_b'])
    const reversed = namesOf(['my.shop', ['a.b']], ['my shop', [`${long}y`, long, 'Größe', 'a_b', 'a.b']])
    expect(reversed).toEqual(named)
  })
})
