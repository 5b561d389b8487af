import { describe, expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import { evaluatePolicy, statesAmount } from '../../../src/platform/contract/policy.ts'
import type { PolicyRule } from '../../../src/platform/contract/wedge/wedge-manifest.ts'

const unused = () => ({ task: 0, day: 0 })

describe('an amount that no tool declares', () => {
  const rules: PolicyRule[] = [{ action: 'refund:*', max_amount_usd: 50 }]
  const approves = (payload: Json) => evaluatePolicy(rules, { action: 'refund:full', payload }, unused).approve
  test.each<[Json, boolean]>([
    [{ amount_usd: 50 }, true],
    [{ amount_usd: 50.01 }, false],
    [{ amount: 0 }, true],
    [{ total: 12.5 }, true],
    [{ value: 49 }, true],
    [{ amount_usd: 10, amount: 9000, total: 9000 }, false],
    [{ amount_usd: 10, value: 50.01 }, false],
    [{ amount_usd: 10, amount: 20, total: 30, value: 50 }, true],
    [{ amount_usd: 10, value: 'ten' }, false],
    [{ amount_usd: 9000, amount: 10 }, false],
    [{ value: 1, total: 51 }, false],
    [{ amount_usd: null, amount: 10 }, false],
    [{ amount_usd: '10' }, false],
    [{ amount: -1 }, false],
    [{ amount: Number.NaN }, false],
    [{ amount: Number.POSITIVE_INFINITY }, false],
    [{ amount: [10] }, false],
    [{ amount: true }, false],
    [{ payment: { amount: 10 } }, false],
    [{ Amount: 10 }, false],
    [{}, false],
    [null, false],
    [10, false],
    ['amount', false],
    [[{ amount: 10 }], false],
    [{ amount: 50, currency: 'usd' }, true],
    [{ amount: 50, currency: null }, true],
    [{ amount: 50, currency: 'BTC' }, false],
    [{ amount: 50, currency: 978 }, false],
    [{ amount: 50, currency: ['USD', 'EUR'] }, false],
    [{ amount: 1, settlement: [{ presentmentCurrency: 'KWD' }] }, false],
    [{ amount: 45, line_items: [{ amount: 15 }, { price: 10, quantity: 3 }] }, true],
    [{ amount: 45, items: [{ total_price: 45, price: 15, quantity: 3 }] }, true],
    [{ amount: 0.3, price: 0.1, quantity: 3 }, true],
    [{ amount: 30, quantity: 100, order: { value: 'A-1001' } }, true],
    [{ amount: 1, amount_cents: 100 }, true],
    [{ amount: 1, amount_cents: 101 }, false],
    [{ amount: 1, line_items: [{ amount: 1_000_000 }] }, false],
    [{ amount: 1, line_items: [{ amount: 1 }, { amount: 1 }] }, false],
    [{ amount: 1, amounts: [1_000_000] }, false],
    [{ amount: 1, charge: { total: 1_000_000 } }, false],
    [{ amount: 1, charge: { Total: 1_000_000 } }, false],
    [{ amount: 1, charge: { total: -1_000_000 } }, false],
    [{ amount: 1, charge: { total: '1,000,000' } }, false],
    [{ amount: 1, charge: { total: 'EUR 5,000' } }, false],
    [{ amount: 1, unitPrice: 1, quantity: 1000 }, false],
    [{ amount: 1, totalAmount: 2 }, false],
    [{ amount: 1, totalamount: 2 }, false],
    [{ amount: 10, refund: { amount: 'US$5,000' } }, false],
    [{ amount: 10, refund: { amount: '5000 US dollars' } }, false],
    [{ amount: 10, refund: { value: '5000 US dollars' } }, false],
    [{ amount: 10, refund: { sum: 5000 } }, false],
    [{ amount: 10, payment: 5000 }, false],
    [{ amount: 10, amount_eur: 10 }, false],
    [{ amount: 10, priceEUR: 10 }, false],
    [{ amount: 49, cost_center: 4711, total_count: 300, priceId: 12_345, payment_method: 'visa 4242' }, true],
    [{ amount: 1, charge: { total: ' EUR 5,000 ' } }, false],
    [{ amount: 1, charge: { total: '5,000 EUR' } }, false],
    [{ amount: 1, charge: { total: '5,000 of them' } }, true],
    [{ amount: 1, charge: { value: '1e6' } }, false],
    [{ amount: 1, charge: { value: '0xFFFFFF' } }, false],
    [{ amount: 1, charge: { total: '5000k' } }, false],
    [{ amount: 1, charge: { total: '1000000 euro' } }, false],
    [{ amount: 1, charge: { total: '１００００' } }, false],
    [{ amount: 1, charge: { total: '١٠٠٠٠' } }, false],
    [{ amount: 1, amounts: { refund: 1_000_000 } }, false],
    [{ amount: 1, payments: [{ main: 1_000_000 }] }, false],
    [{ amount: 1, cents: { amount: 100 } }, false],
    [{ amount: 1, cur: 'EUR' }, false],
    [
      { amount: 20, payment_intent: 'pi_3NxY12', payment: 'pay_29QQ', payment_terms: '30 days', price_list: '2026' },
      true,
    ],
    [{ amount: 20, total_days: 400, amount_display: '$20.00', payment_due: '2026-12-01', payment_time: '10:30' }, true],
  ])('the payload %j is within $50.00: %s', (payload, approve) => {
    expect(approves(payload)).toBe(approve)
  })

  test('a text of spaces is judged in linear time', () => {
    expect(approves({ amount: 1, fee: `${' '.repeat(100_000)}1${' '.repeat(100_000)}none` })).toBe(true)
  })

  test.each<[string, Json]>([
    ['5,001 fields', { amount: 1, ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`Field${i}`, 1])) }],
    ['a list of 5,000 values', { amount: 1, lines: Array.from({ length: 5_000 }, () => 1) }],
    ['names of 100,001 characters', { amount: 1, ['aB'.repeat(50_000)]: 1 }],
  ])('a payload with %s has too many fields to judge', (_, payload) => {
    const { reason } = evaluatePolicy(rules, { action: 'refund:full', payload }, unused)
    expect(reason).toBe('Auto-approval limit is $50; the payload has too many fields to judge.')
    expect(statesAmount({ payload })).toBe(true)
  })

  test('an inherited amount is ignored', () => {
    expect(approves(Object.create({ amount: 10 }))).toBe(false)
    expect(approves(JSON.parse('{"__proto__":{"amount":10}}'))).toBe(false)
  })
})
