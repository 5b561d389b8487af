import { WebClient } from '@slack/web-api'
import StripeClient from 'stripe'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/platform/base/json.ts'
import { type FakeUpstream, type ReceivedRequest, respondJson } from '../fake-upstream.ts'
import { loadPreset, openPresetConnection, PRESET_SECRET } from './preset-connection.ts'
import { openUpstreamServer } from './test-context.ts'
import { twilioClientAt } from './twilio-client.ts'

/** One operation with its arguments, and the call of the vendor's own client that does the same. */
type Comparison = [
  preset: string,
  operation: string,
  args: JsonObject,
  callSdk: (server: FakeUpstream) => Promise<unknown>,
]

const stripe = ({ port }: FakeUpstream) =>
  new StripeClient(PRESET_SECRET, { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })

const slack = ({ url }: FakeUpstream) =>
  new WebClient(PRESET_SECRET, { slackApiUrl: `${url}/api/`, retryConfig: { retries: 0 } })

const postToSlack = (server: FakeUpstream, message: { channel: string; text: string; blocks?: object[] }) =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is not the method of a window
  slack(server).chat.postMessage(message)

const ACCOUNT = 'AC00000000000000000000000000000000'

const twilioAt = ({ url }: FakeUpstream) => twilioClientAt(url, ACCOUNT, PRESET_SECRET)

const refund = {
  payment_intent: 'pi_1',
  amount: 1250,
  reason: 'requested_by_customer',
  metadata: { order: 'A-1', 'ü & =': '1+1' },
}
const invoice = { customer: 'cus_1', collection_method: 'send_invoice', days_until_due: 14, auto_advance: true }
const item = { customer: 'cus_1', amount: 500, currency: 'eur', description: 'Größe 5' }
const post = { channel: 'C1', text: 'Hello & *welcome*', thread_ts: '1.2' }
const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'Hi' } }]
const sms = { to: '+4915112345678', from: '+4930123456', body: 'Grüße & mehr' }

const COMPARISONS: Comparison[] = [
  [
    'stripe',
    'create_refund',
    refund,
    (server) => stripe(server).refunds.create({ ...refund, reason: 'requested_by_customer' }, KEY),
  ],
  ['stripe', 'create_invoice_item', item, (server) => stripe(server).invoiceItems.create(item, KEY)],
  [
    'stripe',
    'create_invoice',
    invoice,
    (server) => stripe(server).invoices.create({ ...invoice, collection_method: 'send_invoice' }, KEY),
  ],
  [
    'stripe',
    'finalize_invoice',
    { invoice: 'in_1' },
    (server) => stripe(server).invoices.finalizeInvoice('in_1', {}, KEY),
  ],
  ['stripe', 'send_invoice', { invoice: 'in_1' }, (server) => stripe(server).invoices.sendInvoice('in_1', {}, KEY)],
  [
    'stripe',
    'cancel_subscription',
    { subscription: 'sub_1' },
    (server) => stripe(server).subscriptions.cancel('sub_1', {}, KEY),
  ],
  ['stripe', 'get_customer', { customer: 'cus_1' }, (server) => stripe(server).customers.retrieve('cus_1')],
  [
    'stripe',
    'list_customers',
    { email: 'kim+a@example.com', limit: 3 },
    (server) => stripe(server).customers.list({ email: 'kim+a@example.com', limit: 3 }),
  ],
  ['stripe', 'list_charges', { customer: 'cus_1' }, (server) => stripe(server).charges.list({ customer: 'cus_1' })],
  ['stripe', 'list_invoices', { status: 'open' }, (server) => stripe(server).invoices.list({ status: 'open' })],
  [
    'stripe',
    'get_payment_intent',
    { payment_intent: 'pi_1' },
    (server) => stripe(server).paymentIntents.retrieve('pi_1'),
  ],
  ['slack', 'post_message', post, (server) => postToSlack(server, post)],
  [
    'slack',
    'post_message',
    { channel: 'C1', text: 'Hi', blocks: JSON.stringify(blocks) },
    (server) => postToSlack(server, { channel: 'C1', text: 'Hi', blocks }),
  ],
  [
    'slack',
    'update_message',
    { channel: 'C1', ts: '1.2', text: 'x' },
    (server) => slack(server).chat.update({ channel: 'C1', ts: '1.2', text: 'x' }),
  ],
  [
    'slack',
    'delete_message',
    { channel: 'C1', ts: '1.2' },
    (server) => slack(server).chat.delete({ channel: 'C1', ts: '1.2' }),
  ],
  [
    'slack',
    'add_reaction',
    { channel: 'C1', timestamp: '1.2', name: 'eyes' },
    (server) => slack(server).reactions.add({ channel: 'C1', timestamp: '1.2', name: 'eyes' }),
  ],
  ['slack', 'open_conversation', { users: 'U1,U2' }, (server) => slack(server).conversations.open({ users: 'U1,U2' })],
  [
    'twilio',
    'send_message',
    { To: sms.to, From: sms.from, Body: sms.body },
    (server) => twilioAt(server).messages.create(sms),
  ],
  [
    'twilio',
    'make_call',
    { To: sms.to, From: sms.from, Twiml: '<Response/>' },
    (server) => twilioAt(server).calls.create({ to: sms.to, from: sms.from, twiml: '<Response/>' }),
  ],
  ['twilio', 'get_message', { sid: 'SM1' }, (server) => twilioAt(server).messages('SM1').fetch()],
  ['twilio', 'get_call', { sid: 'CA1' }, (server) => twilioAt(server).calls('CA1').fetch()],
  [
    'twilio',
    'list_messages',
    { To: sms.to, PageSize: 20 },
    (server) => twilioAt(server).messages.page({ to: sms.to, pageSize: 20 }),
  ],
]

const KEY = { idempotencyKey: 'apr_1' }

/** The parts of a request that decide what it does. */
function essence({ method, url, headers, body }: ReceivedRequest) {
  const { pathname, searchParams } = new URL(url, 'http://recorder')
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded')
  return {
    method,
    pathname,
    query: [...searchParams].toSorted(byName),
    authorization: headers.authorization,
    // The fields of Stripe's objects depend on its version.
    version: headers['stripe-version'],
    fields: body === '' ? [] : isForm ? [...new URLSearchParams(body)].toSorted(byName) : body,
  }
}

const byName = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : a > b ? 1 : 0)

test.each(COMPARISONS)(
  '%s %s %j sends what the own client of the vendor sends',
  async (name, operation, args, callSdk) => {
    const server = await openUpstreamServer((_, response) =>
      respondJson(response, 200, { ok: true, sid: 'x', messages: [] }),
    )
    const connection = await openPresetConnection(loadPreset(name), server)
    expect(await connection.call(operation, args)).toMatchObject({ ok: true })
    await callSdk(server)
    const [ours, theirs, ...others] = server.received
    expect(others).toEqual([])
    if (!ours || !theirs) throw new Error('a request is missing')
    expect(essence(ours)).toEqual(essence(theirs))
    if (name === 'stripe' && ours.method === 'POST') {
      expect(ours.headers['idempotency-key']).toBe('apr_1')
      expect(theirs.headers['idempotency-key']).toBe('apr_1')
    }
  },
)
