import { expect, test } from 'vitest'
import { addJitter, doublingWaits, repeatedWaitAfter, waitAfter } from '../../../src/platform/base/backoff.ts'

const WAITS = doublingWaits(4, 5, 30)

test('waits double up to their limit', () => {
  expect(WAITS).toEqual([5, 10, 20, 30])
  expect(doublingWaits(3, 500)).toEqual([500, 1_000, 2_000])
})

test('after the last wait the attempt is the final one, or the last wait is repeated', () => {
  expect([1, 4, 5].map((failures) => waitAfter(WAITS, failures))).toEqual([5, 30, null])
  expect([1, 4, 5, 90].map((failures) => repeatedWaitAfter(WAITS, failures))).toEqual([5, 30, 30, 30])
})

test('the jitter adds less than a quarter', () => {
  expect(addJitter(1_000, Uint8Array.of(0))).toBe(1_000)
  expect(addJitter(1_000, Uint8Array.of(255))).toBeCloseTo(1_249, 0)
})
