import { expect, test } from 'vitest'
import { WorkingTime } from '../../../src/platform/ctx/working-time.ts'
import { TestClock } from '../../test-clock.ts'

type Step = '+wait' | '-wait' | '+work' | '-work' | number

/** Starts (+) and ends (-) waits and work, lets seconds pass (a number), and returns whether 60 s of working time have elapsed. */
async function hasElapsed(steps: Step[]): Promise<boolean> {
  const clock = new TestClock()
  const time = new WorkingTime(clock)
  const ends: Record<'wait' | 'work', (() => void)[]> = { wait: [], work: [] }
  let elapsed = false
  void time.whenElapsed(60_000).then(() => (elapsed = true))
  for (const step of steps) {
    if (typeof step === 'number') await clock.advance(step * 1000)
    else if (step === '+wait') void time.whileWaiting(() => new Promise<void>((resolve) => ends.wait.push(resolve)))
    else if (step === '+work') void time.whileWorking(() => new Promise<void>((resolve) => ends.work.push(resolve)))
    else ends[step === '-wait' ? 'wait' : 'work'].pop()?.()
    await new Promise(setImmediate)
  }
  return elapsed
}

test.each<[string, Step[], boolean]>([
  ['elapses after 60 s', [59, 1], true],
  ['does not elapse before', [59.9], false],
  ['stops during a wait', ['+wait', 300], false],
  ['continues after a wait', ['+wait', 300, '-wait', 60], true],
  ['does not count a wait in the middle', [30, '+wait', 300, '-wait', 29], false],
  ['adds the time before and after a wait', [30, '+wait', 300, '-wait', 30], true],
  ['stops until both of two waits have ended', ['+wait', '+wait', 300, '-wait', 300], false],
  ['continues after two waits', ['+wait', '+wait', '-wait', '-wait', 60], true],
  ['counts work that starts during a wait', ['+wait', '+work', 60], true],
  ['counts work that started before a wait', ['+work', '+wait', 60], true],
  ['counts until both of two works have ended', ['+wait', '+work', '+work', 30, '-work', 30], true],
  ['stops again after work during a wait', ['+wait', '+work', 59, '-work', 300], false],
  ['adds works that follow each other during a wait', ['+wait', '+work', 30, '-work', 300, '+work', 30], true],
  ['counts concurrent works once', ['+work', '+work', 59], false],
])('the working time of a run %s', async (_, steps, elapsed) => {
  expect(await hasElapsed(steps)).toBe(elapsed)
})

test('a run is waiting while it waits and does not work, and calls onWait at the start of each wait', async () => {
  let waits = 0
  const time = new WorkingTime(new TestClock(), () => waits++)
  let endWait = () => {}
  const waited = time.whileWaiting(() => new Promise<void>((resolve) => (endWait = resolve)))
  expect([time.isWaiting, waits]).toEqual([true, 1])
  const work = time.whileWorking(async () => expect(time.isWaiting).toBe(false))
  await work
  expect([time.isWaiting, waits]).toEqual([true, 2])
  endWait()
  await waited
  expect([time.isWaiting, waits]).toEqual([false, 2])
})

test('work and waits that fail have ended', async () => {
  const time = new WorkingTime(new TestClock())
  const fail = () => Promise.reject(new Error('no'))
  await expect(time.whileWaiting(fail)).rejects.toThrow('no')
  expect(time.isWaiting).toBe(false)
  await time.whileWaiting(async () => {
    await expect(time.whileWorking(fail)).rejects.toThrow('no')
    expect(time.isWaiting).toBe(true)
  })
})
