import { expect, test } from 'vitest'
import { createJointLoop } from '../../../src/platform/ctx/loop.ts'
import { TestClock } from '../../test-clock.ts'

test('the rounds of a joint loop begin together; one that is due while the previous one runs begins after it', async () => {
  const clock = new TestClock()
  const begun: string[] = []
  const pending: (() => void)[] = []
  const loop = createJointLoop(clock, 1_000, [
    async () => void begun.push(`fast ${clock.now()}`),
    async () => {
      begun.push(`slow ${clock.now()}`)
      await new Promise<void>((resolve) => pending.push(resolve))
    },
  ])
  const start = clock.now()
  loop.start()
  expect(begun).toEqual([`fast ${start}`, `slow ${start}`])
  await clock.advance(3_000)
  expect(begun.slice(2)).toEqual([1, 2, 3].map((second) => `fast ${start + second * 1000}`))
  pending[0]?.()
  await expect.poll(() => begun.at(-1)).toBe(`slow ${start + 3000}`)
  const stopped = loop.stop()
  pending[1]?.()
  await stopped
  await clock.advance(5_000)
  expect(begun).toHaveLength(6)
  expect(clock.pendingTimers).toBe(0)
})
