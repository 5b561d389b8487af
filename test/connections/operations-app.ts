import { expect } from 'vitest'
import { advanceUntilSettled, type GatedApp, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'

export const SHOP_SECRET = 'sk_test_canary_0123456789'

/** A wedge whose actions on `shop` pass without a person, except those of `shop:held.`. */
export const shopWedgeFiles = (manifest: object = {}) =>
  gatedWedgeFiles('gate', {
    connections: ['shop', 'crm'],
    policy: {
      auto_approve: ['create', 'update', 'upload', 'remove', 'peek', 'find'].map((name) => ({
        action: `shop:${name}`,
      })),
    },
    approvals: [],
    ...manifest,
  })

export const SHOP_OPERATIONS = [
  { name: 'create', method: 'POST', path: '/refunds', body: 'form', description: 'Refund a charge.' },
  {
    name: 'update',
    method: 'PATCH',
    path: '/customers/{customer}/cards/{card}.json',
    query: { expand: '{expand}', version: '2026-01', dry: '{dry_run}' },
    headers: { 'X-Tenant': '{tenant}', 'x-client': 'desk' },
    idempotency_header: 'X-Request-Id',
    success: [200, 409],
  },
  { name: 'upload', method: 'POST', path: '/files', body: 'multipart' },
  { name: 'remove', method: 'DELETE', path: '/customers/{customer}' },
  {
    name: 'pay',
    method: 'POST',
    path: '/payouts',
    amount: { path: 'line.amount', unit: 'minor', currency_path: 'currency' },
  },
  { name: 'peek', method: 'GET', path: '/balance' },
  {
    name: 'find',
    method: 'GET',
    path: '/charges',
    read: true,
    query: { customer: '{customer}', created: '{created}', limit: '{limit}' },
    headers: { 'x-tenant': '{tenant}' },
    input_schema: { type: 'object', properties: { limit: { type: 'integer' } } },
  },
  { name: 'get', method: 'GET', path: '/charges/{id}', read: true },
  {
    name: 'held.refund',
    method: 'POST',
    path: '/held/{id}',
    input_schema: {
      type: 'object',
      properties: { id: { type: 'string' }, amount: { type: 'integer' }, reason: { enum: ['duplicate', 'other'] } },
      required: ['amount'],
    },
  },
  {
    name: 'held.note',
    method: 'POST',
    path: '/notes/{id}',
    input_schema: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
  },
]

/** Registers the connection `shop` with operations. */
export async function addShop(app: GatedApp, operations: object[] = SHOP_OPERATIONS): Promise<string> {
  const config = { base_url: `${app.outside.url}/v1`, operations }
  const { status, body } = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'shop', config })
  expect({ status, body }).toMatchObject({ status: 201 })
  await app.call('POST', `/v1/connections/${body.id}/secret`, { value: SHOP_SECRET })
  return body.id
}

export interface PlaneResponse {
  status: number
  body: Record<string, unknown>
}

/** The responses of the sandbox plane to the calls of one run of the caller agent. */
export async function runCalls(
  app: GatedApp,
  calls: object[],
): Promise<{ responses: PlaneResponse[]; taskId: string }> {
  const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { calls } })
  const ended = await advanceUntilSettled(app, app.finished(id))
  expect(ended).toMatchObject({ status: 'succeeded', error: null })
  return { responses: ended.output as PlaneResponse[], taskId: id }
}

export const act = (operation: string, payload?: unknown) => ({ path: `actions/shop:${operation}`, body: { payload } })
export const read = (operation: string, args?: unknown) => ({
  path: `reads/shop:${operation}`,
  body: { arguments: args },
})
