import { expect, test } from 'vitest'
import { StoreClock } from '../../src/store/store-clock.ts'

const HOUR = 3_600_000

test('the time is the one that the database told, carried on by the steady clock', () => {
  const clock = new StoreClock()
  const at = performance.now()
  clock.heard(Date.now() + HOUR, at, at)
  expect(Math.abs(clock.now() - Date.now() - HOUR)).toBeLessThan(1_000)
})

test('a difference that may come from the way there changes nothing', () => {
  const clock = new StoreClock()
  const at = performance.now()
  clock.heard(1_000_000, at, at)
  clock.heard(1_000_400, at, at + 1_000)
  expect(clock.now()).toBeLessThan(1_000_400 + (performance.now() - at))
  clock.heard(1_002_000, at, at + 1_000)
  expect(clock.now()).toBeGreaterThanOrEqual(1_001_500)
})
