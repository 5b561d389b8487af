import { expect, test } from 'vitest'
import type { JsonObject } from '../../console/src/api/types.ts'
import { approvalSummary, actionLabel } from '../../console/src/pages/approvals/approval-summary.ts'

const preview = { amount_usd: 84.5, order_id: 'B-1' }

test('approval summary: it names the real connection, whatever name the agent gives the action', () => {
  expect(approvalSummary({ action: 'payments:refund', preview, connection: 'payments' })).toBe(
    'Refund through payments of $84.50 for order B-1',
  )
  expect(actionLabel('payments:refund', 'post_box')).toBe('Refund (payments) through post_box')
  expect(actionLabel('send_note', 'crm')).toBe('Send note through crm')
})

test('approval summary: it uses the edited values', () => {
  const approval = { action: 'payments:refund', preview, connection: 'payments' }
  expect(approvalSummary({ ...approval, edited: { amount_usd: 50 } })).toBe(
    'Refund through payments of $50.00 for order B-1',
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
