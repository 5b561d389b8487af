import { describe, expect, test } from 'vitest'
import type { ActionAmount, JsonObject } from '../../console/src/api/types.ts'
import { batchTotals } from '../../console/src/pages/approvals/batch-totals.ts'

const refund = (amount_usd: number) => ({ action: 'book_refund', preview: { amount_usd } })
const CENTS: ActionAmount = {
  value: null,
  currency: null,
  text: '',
  path: 'amount',
  unit: 'minor',
  currency_path: 'currency',
}
const payout = (payload: JsonObject) => ({
  action: 'stripe:create_refund',
  preview: payload,
  connection: 'stripe',
  amount: CENTS,
})

describe('totals of a batch', () => {
  test('approval batch: actions of one kind are counted and their amounts are added', () => {
    expect(batchTotals([refund(100), refund(150), refund(199.9), refund(0.1)])).toBe('4 refunds, $450.00')
    expect(batchTotals([refund(0.1), refund(0.2)])).toBe('2 refunds, $0.30')
    expect(batchTotals([refund(84.5)])).toBe('1 refund, $84.50')
  })

  test('approval batch: each currency has its own sum, and edited amounts count', () => {
    const edited = { ...payout({ amount: 5000, currency: 'usd' }), edited: { amount: 1999 } }
    const others = [payout({ amount: 500, currency: 'jpy' }), payout({ amount: 1000, currency: 'usd' })]
    expect(batchTotals([edited, ...others])).toBe('3 refunds, $29.99 + ¥500')
  })

  test('approval batch: an action without a readable amount is counted apart from the sum', () => {
    expect(batchTotals([payout({ amount: 500, currency: 'usd' }), payout({ amount: 'many', currency: 'usd' })])).toBe(
      '2 refunds, $5.00, 1 without an amount',
    )
  })

  test('approval batch: each kind is named, and the connection tells two of the same name apart', () => {
    const mail = { action: 'mail:send', preview: { to: 'a@b.c' }, connection: 'mail' }
    const reply = { action: 'post:reply', preview: { text: 'Hi' } }
    expect(batchTotals([mail, mail, reply])).toBe('2 messages · 1 reply')
    expect(batchTotals([reply, reply])).toBe('2 replies')
    const shown = ['publish_reply', 'widget:reply', 'portal:reply'].map((action) => ({ action, preview: {} }))
    expect(batchTotals(shown)).toBe('3 replies')
    expect(batchTotals([refund(10), payout({ amount: 500, currency: 'usd' })])).toBe(
      '1 refund, $10.00 · 1 refund through stripe, $5.00',
    )
  })

  test('approval batch: a verb that changes or deletes stays visible', () => {
    expect(batchTotals([{ action: 'crm:delete_user', preview: {} }])).toBe('1 “delete user” request')
  })
})
