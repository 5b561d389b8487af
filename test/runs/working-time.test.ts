import { expect, test } from 'vitest'
import { WorkingTime } from '../../src/runs/working-time.ts'
import { TestClock } from '../test-clock.ts'

type Step = '+wait' | '-wait' | '+work' | '-work' | number

/** Waits and works begin and end as told, a number is seconds that pass; answers whether a minute of work has. */
async function isOver(steps: Step[]): Promise<boolean> {
  const clock = new TestClock()
  const time = new WorkingTime(clock)
  const ends: Record<'wait' | 'work', (() => void)[]> = { wait: [], work: [] }
  let over = false
  void time.whenElapsed(60_000).then(() => (over = true))
  for (const step of steps) {
    if (typeof step === 'number') await clock.advance(step * 1000)
    else if (step === '+wait') void time.whileWaiting(() => new Promise<void>((resolve) => ends.wait.push(resolve)))
    else if (step === '+work') void time.whileWorking(() => new Promise<void>((resolve) => ends.work.push(resolve)))
    else ends[step === '-wait' ? 'wait' : 'work'].pop()?.()
    await new Promise(setImmediate)
  }
  return over
}

test.each<[string, Step[], boolean]>([
  ['passes', [59, 1], true],
  ['not sooner', [59.9], false],
  ['stands still during a question', ['+wait', 300], false],
  ['goes on after it', ['+wait', 300, '-wait', 60], true],
  ['counts what passed before and after', [30, '+wait', 300, '-wait', 29], false],
  ['ends by what passed before and after', [30, '+wait', 300, '-wait', 30], true],
  ['stands still during two questions side by side', ['+wait', '+wait', 300, '-wait', 300], false],
  ['goes on after both', ['+wait', '+wait', '-wait', '-wait', 60], true],
  ['runs during work beside a question', ['+wait', '+work', 60], true],
  ['runs during work that began before the question', ['+work', '+wait', 60], true],
  ['runs during two works', ['+wait', '+work', '+work', 30, '-work', 30], true],
  ['stands still again after the work', ['+wait', '+work', 59, '-work', 300], false],
  ['counts works one after the other', ['+wait', '+work', 30, '-work', 300, '+work', 30], true],
  ['is not counted twice by work without a question', ['+work', '+work', 59], false],
])('the time of a run %s', async (_, steps, over) => {
  expect(await isOver(steps)).toBe(over)
})

test('a run waits while a question is open and nothing else is under way, and says when it begins to', async () => {
  const time = new WorkingTime(new TestClock())
  let told = 0
  time.onWait = () => told++
  let answer = () => {}
  const asked = time.whileWaiting(() => new Promise<void>((resolve) => (answer = resolve)))
  expect([time.isWaiting, told]).toEqual([true, 1])
  const work = time.whileWorking(async () => expect(time.isWaiting).toBe(false))
  await work
  expect([time.isWaiting, told]).toEqual([true, 2])
  answer()
  await asked
  expect([time.isWaiting, told]).toEqual([false, 2])
})

test('work and waits that fail end too', async () => {
  const time = new WorkingTime(new TestClock())
  const fail = () => Promise.reject(new Error('no'))
  await expect(time.whileWaiting(fail)).rejects.toThrow('no')
  expect(time.isWaiting).toBe(false)
  await time.whileWaiting(async () => {
    await expect(time.whileWorking(fail)).rejects.toThrow('no')
    expect(time.isWaiting).toBe(true)
  })
})
