import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CALLER_AGENT, requestedApprovalId, sharedGatedApp } from '../approvals/decisions/gated-app.ts'
import { anyStore, writeFiles } from '../app.ts'
import { respondJson } from '../fake-upstream.ts'
import { act, addShop, read, runCalls, SHOP_SECRET, shopWedgeFiles } from './operations-app.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

anyStore((store) => {
  const shared = sharedGatedApp(store, {
    wedges: shopWedgeFiles(),
    env: { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir, SVC_READ_MAX_PER_TASK: '8' },
  })
  let shopId: string
  beforeAll(async () => {
    shopId = await addShop(shared())
  })
  afterEach(() => {
    shared().outside.respond = (_request, response) => respondJson(response, 200, { done: true })
    shared().outside.received.length = 0
  })

  test('an operation sends a form with nested fields, the credential and the approval id', async () => {
    const app = shared()
    const payload = {
      charge: 'ch_1',
      amount: 500,
      metadata: { 'order id': 'ä&=1' },
      tags: ['a', 'b'],
      note: null,
      empty: [],
    }
    const { responses, taskId } = await runCalls(app, [act('create', payload)])
    expect(responses[0]).toMatchObject({
      status: 200,
      body: { ok: true, status: 200, result: { done: true }, payload },
    })
    const [request] = app.outside.received
    expect(request).toMatchObject({
      method: 'POST',
      url: '/v1/refunds',
      body: 'charge=ch_1&amount=500&metadata[order%20id]=%C3%A4%26%3D1&tags[0]=a&tags[1]=b&note=',
    })
    const [approval] = (await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${SHOP_SECRET}`,
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': approval.approval_id,
    })
    expect(approval).toMatchObject({ action: 'shop:create', connection: 'shop', status: 'auto_approved' })
  })

  test('fields of the path, the query and the headers are escaped and leave the body', async () => {
    const app = shared()
    const payload = { customer: 'c ü?#&', card: 7, expand: ['a', 'b'], tenant: 'acme', name: 'Zoë', deep: { x: [1] } }
    const { responses } = await runCalls(app, [act('update', payload)])
    expect(responses[0]).toMatchObject({ status: 200, body: { ok: true } })
    const [request] = app.outside.received
    expect(request).toMatchObject({
      method: 'PATCH',
      url: '/v1/customers/c%20%C3%BC%3F%23%26/cards/7.json?expand[0]=a&expand[1]=b&version=2026-01',
    })
    expect(JSON.parse(request?.body ?? '')).toEqual({ name: 'Zoë', deep: { x: [1] } })
    expect(request?.headers).toMatchObject({
      'x-tenant': 'acme',
      'x-client': 'desk',
      'x-request-id': expect.any(String),
    })
    expect(request?.headers).not.toHaveProperty('idempotency-key')
  })

  test('a multipart operation sends each field as a part that its value cannot end', async () => {
    const app = shared()
    const payload = { title: 'a\r\n--x--\r\n', 'na"me; x': 'v', meta: { k: 1 } }
    await runCalls(app, [act('upload', payload)])
    const [request] = app.outside.received
    const form = await new Response(request?.body, {
      headers: { 'content-type': request?.headers['content-type'] ?? '' },
    }).formData()
    expect([...form.entries()]).toEqual([
      ['title', 'a\r\n--x--\r\n'],
      ['na"me; x', 'v'],
      ['meta[k]', '1'],
    ])
  })

  test('an operation without body sends none and refuses fields that it would not send', async () => {
    const app = shared()
    const { responses } = await runCalls(app, [
      act('remove', { customer: 'c1' }),
      act('peek'),
      act('remove', { customer: 'c1', reason: 'x' }),
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 400])
    expect(responses[2]?.body.error).toBe("field 'reason' is not used by the operation 'remove'")
    expect(app.outside.received.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['DELETE', '/v1/customers/c1', ''],
      ['GET', '/v1/balance', ''],
    ])
    expect(app.outside.received[1]?.headers).not.toHaveProperty('idempotency-key')
  })

  test('the success codes of an operation decide whether it succeeded', async () => {
    const app = shared()
    app.outside.respond = (_, response) => respondJson(response, 409, { exists: true })
    const update = act('update', { customer: 'c', card: 'd' })
    const conflict = await runCalls(app, [update, act('create', {})])
    expect(conflict.responses.map(({ body }) => [body.ok, body.status])).toEqual([
      [true, 409],
      [false, 409],
    ])
    app.outside.respond = (_, response) => respondJson(response, 201, {})
    const created = await runCalls(app, [update])
    expect(created.responses[0]?.body).toMatchObject({
      ok: false,
      status: 201,
      error: 'upstream answered 201, which is not a success here',
    })
  })

  test('a read operation needs no approval and is counted, limited and audited', async () => {
    const app = shared()
    const { responses, taskId } = await runCalls(app, [
      read('find', { customer: 'c&1', created: { gte: 5 }, limit: 2 }),
      read('get', { id: 'ch_1' }),
      { method: 'GET', path: 'reads/shop:find' },
      ...Array.from({ length: 6 }, () => read('find')),
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 429])
    expect(responses[0]?.body).toEqual({
      ok: true,
      status: 200,
      content_type: 'application/json',
      body: { done: true },
    })
    expect(app.outside.received.slice(0, 3).map(({ method, url }) => [method, url])).toEqual([
      ['GET', '/v1/charges?customer=c%261&created[gte]=5&limit=2'],
      ['GET', '/v1/charges/ch_1'],
      ['GET', '/v1/charges'],
    ])
    expect((await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
    const lines = (await app.call('GET', '/v1/audit?limit=200')).body.data
    const own = lines.filter((line: { actor: { id: string } }) => line.actor.id === taskId)
    expect(own.map(({ action }: { action: string }) => action)).toEqual(Array(8).fill('read.executed'))
  })

  test('an action on the read route is 400, and a read on the action route stops at the gate', async () => {
    const app = shared()
    const { responses } = await runCalls(app, [
      read('create', {}),
      read('peek', {}),
      { path: 'reads/shop:get', body: { arguments: { id: '1' }, path: 'x' } },
      act('find', { limit: 1 }),
    ])
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 200])
    expect(responses[0]?.body.error).toBe(
      "'shop:create' is an action, not a read: use /v1/internal/actions/shop:create",
    )
    expect(app.outside.received.map(({ url }) => url)).toEqual(['/v1/charges?limit=1'])
  })

  test('an unknown operation and a payload against the schema are 400 before a person is asked', async () => {
    const app = shared()
    const { responses, taskId } = await runCalls(app, [
      act('refund', {}),
      act('Create', {}),
      { path: 'actions/shop', body: { payload: {} } },
      { path: 'actions/anything', body: { connection: 'shop', payload: {} } },
      { path: 'reads/shop', body: { path: 'charges' } },
      act('held.refund', { id: 'x' }),
      act('held.refund', { id: 'x', amount: '5' }),
      act('held.refund', { id: 'x', amount: 5, reason: 'fun' }),
      act('held.refund', { amount: 5 }),
      act('held.refund', [1]),
      act('held.note', { id: 'n1', text: 'hi', urgent: true }),
      read('find', { limit: 'many' }),
    ])
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 400))
    expect(responses.slice(5).map(({ body }) => body.error)).toEqual([
      "field 'payload.amount' is required",
      "field 'payload.amount' must be integer, not string",
      `field 'payload.reason' must be one of "duplicate", "other"`,
      "field 'payload.id' is required",
      "field 'payload' must be object, not array",
      "field 'payload.urgent' is not one of 'shop:held.note': it has id, text",
      "field 'arguments.limit' must be integer, not string",
    ])
    expect((await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
    expect(app.outside.received).toEqual([])
  })

  test('an edit at the gate must match the schema and the path too', async () => {
    const app = shared()
    const call = act('held.refund', { id: 'ch_1', amount: 5 })
    const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { calls: [call] } })
    const path = `/v1/approvals/${await requestedApprovalId(app, id)}/approve`
    expect(await app.call('POST', path, { edited: { amount: 'all' } })).toMatchObject({
      status: 400,
      body: { error: "field 'edited.amount' must be integer, not string" },
    })
    expect(await app.call('POST', path, { edited: { id: '../payouts' } })).toMatchObject({ status: 400 })
    expect(app.outside.received).toEqual([])
    expect(await app.call('POST', path, { edited: { amount: 3 } })).toMatchObject({ status: 200 })
    expect(await app.finished(id)).toMatchObject({ status: 'succeeded' })
    expect(app.outside.received.map(({ url, body }) => [url, body])).toEqual([['/v1/held/ch_1', '{"amount":3}']])
  })

  test('an operation that was changed while its approval waited is not sent', async () => {
    const app = shared()
    const call = act('held.refund', { id: 'ch_1', amount: 5 })
    const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { calls: [call] } })
    const approvalId = await requestedApprovalId(app, id)
    const shop = (await app.call('GET', `/v1/connections/${shopId}`)).body
    const operations = shop.config.operations.filter(({ name }: { name: string }) => name !== 'held.refund')
    await app.call('PUT', `/v1/connections/${shop.id}`, { config: { ...shop.config, operations } })
    expect(await app.call('POST', `/v1/approvals/${approvalId}/approve`)).toMatchObject({ status: 200 })
    const { output } = await app.finished(id)
    await app.call('PUT', `/v1/connections/${shop.id}`, { config: shop.config })
    expect(output).toMatchObject([
      { status: 200, body: { ok: false, status: null, error: expect.stringMatching(/has no tool/) } },
    ])
    expect(app.outside.received).toEqual([])
  })

  test('the test of a connection with operations calls its base url', async () => {
    const app = shared()
    expect(await app.call('POST', `/v1/connections/${shopId}/test`)).toMatchObject({ status: 200, body: { ok: true } })
    expect(app.outside.received.map(({ method, url }) => [method, url])).toEqual([['GET', '/v1']])
  })
})
