import { expect, test } from 'vitest'
import { Parking } from '../../../../src/execution/runs/resume/parking.ts'
import { TestClock } from '../../../test-clock.ts'

/** A run that may leave its cell after ten seconds, and how often it left. */
function parkingRun() {
  const clock = new TestClock()
  const state = { canLeave: true, isOpen: true, left: 0 }
  const parking = new Parking(clock, 10, { canLeaveCell: () => state.canLeave, leaveCell: () => state.left++ })
  return { clock, state, parking, start: () => parking.startTimer(() => state.isOpen) }
}

test('a run leaves its cell when its request has waited long enough', async () => {
  const { clock, state, start } = parkingRun()
  start()
  await clock.advance(9_999)
  expect(state.left).toBe(0)
  await clock.advance(1)
  expect(state.left).toBe(1)
})

test('a run whose request has its answer stays in its cell', async () => {
  const { clock, state, start } = parkingRun()
  start()
  state.isOpen = false
  await clock.advance(60_000)
  expect(state.left).toBe(0)
})

test('a newer request starts the time again, and the end of the run stops it', async () => {
  const { clock, state, parking, start } = parkingRun()
  start()
  await clock.advance(9_000)
  start()
  await clock.advance(9_000)
  expect(state.left).toBe(0)
  parking.stopTimer()
  await clock.advance(60_000)
  expect(state.left).toBe(0)
})

test.each([
  ['a server waits for an answer', { openServerQuestions: 1 }, { openServerQuestions: 0 }],
  ['the agent has delivered files', { hasUnstoredFiles: true }, { hasUnstoredFiles: false }],
])('a run stays in its cell while %s, and is checked again', async (_name, busy, free) => {
  const { clock, state, parking, start } = parkingRun()
  Object.assign(parking, busy)
  start()
  await clock.advance(10_000)
  expect(state.left).toBe(0)
  Object.assign(parking, free)
  await clock.advance(10_000)
  expect(state.left).toBe(1)
})

test('a run that does other work meanwhile is checked again', async () => {
  const { clock, state, start } = parkingRun()
  state.canLeave = false
  start()
  await clock.advance(20_000)
  expect(state.left).toBe(0)
  state.canLeave = true
  await clock.advance(10_000)
  expect(state.left).toBe(1)
})
