import { expect, test } from 'vitest'
import type { JsonObject } from '../../console/src/api/types.ts'
import { moneyFields } from '../../console/src/pages/approvals/amount.ts'
import { approvalSummary, actionLabel } from '../../console/src/pages/approvals/approval-summary.ts'

const preview = { amount_usd: 84.5, order_id: 'B-1' }

test('approval summary: it names the real connection, whatever name the agent gives the action', () => {
  expect(approvalSummary({ action: 'payments:refund', preview, connection: 'payments' })).toBe(
    'Refund through payments of $84.50 for order B-1',
  )
  expect(actionLabel('payments:refund', 'post_box')).toBe('Refund (payments) through post_box')
  expect(actionLabel('send_note', 'crm')).toBe('Send note through crm')
})

test('approval summary: a recipient that the words of the server name is not repeated', () => {
  const mail = { action: 'outbox:send', connection: 'outbox', text: 'outbox: send a mail to ada@example.com' }
  const summary = (to: string | string[], text = mail.text) => approvalSummary({ ...mail, text, preview: { to } })
  expect(summary('ada@example.com')).toBe('outbox: send a mail to ada@example.com')
  const many = 'outbox: send a mail to ada@example.com and 1 more'
  expect(summary(['ada@example.com', 'kim@example.com'], many)).toBe(many)
  expect(summary('kim@example.com')).toBe('outbox: send a mail to ada@example.com to kim@example.com')
})

test('approval summary: it uses the edited values', () => {
  const approval = { action: 'payments:refund', preview, connection: 'payments' }
  expect(approvalSummary({ ...approval, edited: { amount_usd: 50 } })).toBe(
    'Refund through payments of $50.00 for order B-1',
  )
  const by = { kind: 'member' as const, id: 'mem_1', name: 'Ada' }
  const held = { decision: 'approved' as const, by, until: '', edited: { amount_usd: 45, order_id: 'B-2' } }
  expect(approvalSummary({ ...approval, edited: { amount_usd: 50 }, held })).toBe(
    'Refund through payments of $45.00 for order B-2',
  )
})

test('approval summary: it shows the largest of several amounts, and none if one is not a number', () => {
  const summary = (payload: JsonObject) => approvalSummary({ action: 'refund', preview: payload })
  expect(summary({ amount_usd: 1, amount: 1_000_000, total: 5 })).toBe('Refund of $1,000,000.00')
  expect(summary({ amount_usd: 1, amount: '1000000' })).toBe('Refund')
})

test('approval summary: a deleted connection is named by its id', () => {
  expect(approvalSummary({ action: 'send_note', preview: {}, connection: null, connection_id: 'conn_1' })).toBe(
    'Send note through conn_1',
  )
})

test('approval summary: without a connection it is derived from the action', () => {
  const none = { connection: null, connection_id: null }
  expect(approvalSummary({ action: 'book_room', preview: {}, ...none })).toBe('Book room')
  expect(approvalSummary({ action: 'payments:refund', preview: {} })).toBe('Refund through payments')
})

const CENTS = {
  value: 50,
  currency: 'USD',
  text: '$50.00',
  path: 'amount',
  unit: 'minor',
  currency_path: null,
} as const
const refund = { action: 'stripe:create_refund', preview: { amount: 5000 }, connection: 'stripe', amount: CENTS }

test('approval summary: an amount in cents is shown in dollars, also after an edit', () => {
  const named = { ...refund, text: 'stripe: create a refund of $50.00' }
  expect(approvalSummary(named)).toBe('stripe: create a refund of $50.00')
  expect(approvalSummary({ ...named, edited: { amount: 1999 } })).toBe('stripe: create a refund of $19.99')
  expect(approvalSummary({ ...named, edited: { amount: 'many' } })).toBe('stripe: create a refund')
})

test.each([
  [{ amount: 500, currency: 'jpy' }, '¥500'],
  [{ amount: 5000, currency: 'eur' }, '€50.00'],
  [{ amount: 5000, currency: 'cad' }, 'CA$50.00'],
])('approval summary: the amount of %j is %s', (preview, money) => {
  const amount = { ...CENTS, currency_path: 'currency' }
  expect(approvalSummary({ action: 'pay', preview, connection: 'bank', amount })).toBe(`Pay through bank of ${money}`)
  expect(moneyFields(amount, preview)).toEqual({ amount: money })
})
