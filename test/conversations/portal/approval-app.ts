import { afterAll, beforeAll, expect } from 'vitest'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import { type GatedApp, openGatedApp, requestedApprovalId } from '../../approvals/decisions/gated-app.ts'
import { openPortal } from '../../customers/channels/channel-app.ts'
import type { NotifiedApp } from '../../approvals/notifications/notified-app.ts'
import type { StoreKind } from '../../stores.ts'

/** Each action has another rule about the client. */
const SHOP_APPROVALS = [
  { action: 'store:order', approvers: 'client' },
  { action: 'store:contract', approvers: ['client', 'admin'], needed: 2 },
  { action: 'store:deal', approvers: ['client', 'nobody@example.com'], needed: 2 },
  { action: 'store:refund', approvers: ['client', 'admin'], exclude_requester: true },
  { action: 'store:upgrade', approvers: ['client'], escalate: [{ after_s: 60, to: 'admin' }] },
  { action: 'ship_it', approvers: ['client'], required: true },
]

export const ORDER = { item: 'Teapot', total: 4_500, currency: 'usd' }

/** The text of a message names the action of its task. */
export const SHOP_WEDGE = {
  'shop/wedge.json': {
    wedge: 'shop',
    title: 'Shop',
    connections: ['store'],
    approvals: SHOP_APPROVALS,
    workflows: [{ name: 'ship_it' }],
    cases: { stages: ['new', 'done'], initial: 'new' },
    task_types: { act: {}, ship: {} },
  },
  'shop/workflows/ship_it.mjs': 'export default () => ({ shipped: true })',
  'shop/rehearsals/act.json': [
    { call: { tool: 'act', input: { connection: 'store', capability: '{{input.body}}', payload: ORDER } } },
    { output: '{{last}}' },
  ],
  'shop/rehearsals/ship.json': [
    { call: { tool: 'workflow', input: { name: 'ship_it', args: { parcel: 7 } } } },
    { output: '{{last}}' },
  ],
}

export const SHOP_OPERATIONS = ['order', 'contract', 'deal', 'refund', 'upgrade'].map((name) => ({
  name,
  description: `Place the ${name}. The store keeps it.`,
  method: 'POST',
  path: `/${name}`,
  body: 'json',
  amount: { path: 'total', unit: 'minor', currency_path: 'currency' },
}))

export interface ShopApp extends NotifiedApp {
  channel: string
  /** The channel whose tasks call a tool of the wedge. */
  shippingChannel: string
}

export async function openShopApp(store: StoreKind): Promise<ShopApp> {
  const app = await openGatedApp(store, SHOP_WEDGE, { SVC_PUBLIC_URL: 'https://work.example' })
  const config = { base_url: `${app.outside.url}/store`, operations: SHOP_OPERATIONS }
  const { body } = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'store', config })
  await app.call('POST', `/v1/connections/${body.id}/secret`, { value: 'sk_test' })
  const session = await signUpOwner(app)
  const members = await app.call('GET', '/v1/members', undefined, { key: session })
  return {
    ...app,
    channel: await openShopChannel(app, 'act'),
    shippingChannel: await openShopChannel(app, 'ship'),
    owner: { id: members.body.data[0].id, email: 'owner@example.com', session },
    operator: { ...(await addMember(app, session, 'operator')), email: 'operator-two@example.com' },
  }
}

async function openShopChannel(app: GatedApp, task_type: string): Promise<string> {
  const connections = (await app.call('GET', '/v1/connections')).body.data
  const { id } = connections.find(({ name }: { name: string }) => name === 'mail')
  const binding = { connection_id: id, address: `${task_type}@shop.example`, wedge: 'shop', task_type }
  const { status, body } = await app.call('POST', '/v1/channels', binding)
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

export function sharedShopApp(store: StoreKind): () => ShopApp {
  let app: ShopApp
  beforeAll(async () => {
    app = await openShopApp(store)
  })
  afterAll(async () => {
    await app?.stop()
    await app?.outside.close()
  })
  return () => app
}

/** A client with a portal session whose message made the agent ask for an approval of the action. */
export async function askBuyer(app: ShopApp, handle: string, action = 'store:order') {
  const client = await openPortal(app, handle, { body: action })
  return { ...client, task: client.task_id, approval: await requestedApprovalId(app, client.task_id) }
}

export const readApproval = async (app: ShopApp, approval: string) =>
  (await app.call('GET', `/v1/approvals/${approval}`)).body
