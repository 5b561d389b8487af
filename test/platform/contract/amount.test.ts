import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../src/platform/base/json.ts'
import {
  type AmountMapping,
  formatAmount,
  formatAmountWithCode,
  readAmount,
} from '../../../src/platform/contract/amount.ts'
import { evaluatePolicy } from '../../../src/platform/contract/policy.ts'

const CENTS: AmountMapping = { path: 'amount', unit: 'minor', currency: 'usd' }
const STATED: AmountMapping = { path: 'line.amount', unit: 'major', currency_path: 'line.currency' }

describe('reading an amount', () => {
  test.each<[AmountMapping, Json, number, string]>([
    [CENTS, { amount: 1999 }, 19.99, '$19.99'],
    [CENTS, { amount: 0 }, 0, '$0.00'],
    [CENTS, { amount: 5000, amount_usd: 1, total: 9 }, 50, '$50.00'],
    [{ ...CENTS, currency: 'JPY' }, { amount: 500 }, 500, '¥500'],
    [{ ...CENTS, currency: 'kwd' }, { amount: 1500 }, 1.5, 'KWD 1.500'],
    [{ ...CENTS, currency: 'cad' }, { amount: 5000 }, 50, 'CA$50.00'],
    [STATED, { line: { amount: 50, currency: 'eur' } }, 50, '€50.00'],
    [STATED, { line: { amount: 0.1 + 0.2, currency: 'usd' } }, 0.1 + 0.2, '$0.30000000000000004'],
    [STATED, { 'line.amount': 1, line: { amount: 50, currency: 'USD' } }, 50, '$50.00'],
  ])('%j of %j is %d', (mapping, payload, value, text) => {
    const amount = readAmount(mapping, payload)
    expect(amount).toMatchObject({ value })
    expect('problem' in amount ? amount.problem : formatAmount(amount).replace(/\s/, ' ')).toBe(text)
  })

  test.each<[AmountMapping, Json, string]>([
    [CENTS, {}, "'amount' is missing"],
    [CENTS, null, "'amount' is missing"],
    [CENTS, [{ amount: 1 }], "'amount' is missing"],
    [CENTS, JSON.parse('{"__proto__":{"amount":1}}'), "'amount' is missing"],
    [CENTS, { amount: '1999' }, "'amount' is not a number"],
    [CENTS, { amount: null }, "'amount' is not a number"],
    [CENTS, { amount: [1999] }, "'amount' is not a number"],
    [CENTS, { amount: Number.NaN }, "'amount' is not a number"],
    [CENTS, { amount: Number.POSITIVE_INFINITY }, "'amount' is not a number"],
    [CENTS, { amount: -1 }, "'amount' is negative"],
    [CENTS, { amount: 19.99 }, "'amount' is not a whole number of minor units"],
    [CENTS, { amount: 2 ** 60 }, "'amount' is not a whole number of minor units"],
    [{ path: 'amount', unit: 'minor' }, { amount: 1 }, "'currency' is not a currency code"],
    [STATED, { line: { amount: 1 } }, "'line.currency' is not a currency code"],
    [STATED, { line: { amount: 1, currency: 'dollars' } }, "'line.currency' is not a currency code"],
    [STATED, { line: { amount: 1, currency: 'uſd' } }, "'line.currency' is not a currency code"],
    [{ ...STATED, currency: 'usd' }, { line: { amount: 1 } }, "'line.currency' is not a currency code"],
    [{ ...CENTS, path: 'constructor.length' }, {}, "'constructor.length' is missing"],
  ])('%j of %j is refused: %s', (mapping, payload, problem) => {
    expect(readAmount(mapping, payload)).toEqual({ problem })
  })

  test('cents become exactly the dollars with the same digits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (cents) => {
        const digits = String(cents).padStart(3, '0')
        const literal = Number(`${digits.slice(0, -2)}.${digits.slice(-2)}`)
        expect(readAmount(CENTS, { amount: cents })).toEqual({ value: literal, currency: 'USD' })
      }),
    )
  })

  test('an amount with the code of its currency', () => {
    expect(formatAmountWithCode({ value: 1234.5, currency: 'EUR' })).toBe('1,234.50 EUR')
    expect(formatAmountWithCode({ value: 500, currency: 'JPY' })).toBe('500 JPY')
  })
})

describe('a limit on a declared amount', () => {
  const rules = [{ action: 'stripe:*', max_amount_usd: 50 }]
  const decide = (payload: Json, amount: AmountMapping | null = CENTS) =>
    evaluatePolicy(rules, { action: 'stripe:create_refund', payload, amount }, () => ({ task: 0, day: 0 }))

  test.each<[Json, boolean]>([
    [{ amount: 5000 }, true],
    [{ amount: 5001 }, false],
    [{ amount: 100, total: 1_000_000, value: 'x' }, true],
    [{ amount: 1_000_000, amount_usd: 1 }, false],
    [{ amount_usd: 1 }, false],
    [{ Amount: 1 }, false],
    [{ amount: '1' }, false],
  ])('%j passes a limit of $50: %s', (payload, approve) => {
    expect(decide(payload).approve).toBe(approve)
  })

  test('the reason names the amount, the currency or the problem', () => {
    const currency = { path: 'amount', unit: 'minor', currency_path: 'currency' } as const
    expect(decide({ amount: 5001 }).reason).toBe('Auto-approval limit is $50; this is $50.01.')
    expect(decide({ amount: 5000, currency: 'eur' }, currency).reason).toBe(
      'Auto-approval limit is $50; the amount is 50.00 EUR; limits are in USD.',
    )
    expect(decide({ amount: 5000, currency: 'USD' }, currency).approve).toBe(true)
    expect(decide({ amount: '50' }).reason).toBe("Auto-approval limit is $50; 'amount' is not a number.")
    expect(decide({}).reason).toBe("Auto-approval limit is $50; 'amount' is missing.")
  })

  test('without a mapping the amount is in dollars', () => {
    expect(decide({ amount: 5000 }, null).approve).toBe(false)
    expect(decide({ amount: 50 }, null).approve).toBe(true)
  })
})
