import { expect, test } from 'vitest'
import { ByteBudget } from '../../../src/platform/ctx/byte-budget.ts'

const MB = 1_000_000

/** Takes as much as an owner gets, in small pieces. */
function takeAll(budget: ByteBudget, ...owners: string[]): number {
  const reservation = budget.open(...owners)
  let bytes = 0
  while (reservation.add(MB / 10)) bytes += MB / 10
  return bytes
}

test('one owner gets two thirds of the memory, and each further one finds some', () => {
  const budget = new ByteBudget(120 * MB)
  expect(takeAll(budget, 'one')).toBe(80 * MB)
  for (let n = 0; n < 4; n++) expect(takeAll(budget, `owner ${n}`)).toBeGreaterThan(0)
})

test('one address gets two thirds of the memory, however many channels it calls', () => {
  const budget = new ByteBudget(120 * MB)
  let taken = 0
  for (let n = 0; n < 20; n++) taken += takeAll(budget, `channel ${n}`, 'address')
  expect(taken).toBe(80 * MB)
  expect(takeAll(budget, 'another channel', 'another address')).toBeGreaterThan(0)
})

test('two owners read and join a body of 50 MiB each at the same time', () => {
  const budget = new ByteBudget(256 * 1024 * 1024)
  const [one, other] = [budget.open('one'), budget.open('other')]
  for (let n = 0; n < 50; n++) for (const call of [one, other]) expect(call.add(1024 * 1024)).toBe(true)
  for (const call of [one, other]) expect(call.add(50 * 1024 * 1024)).toBe(true)
  for (const call of [one, other]) expect(call.add(-50 * 1024 * 1024)).toBe(true)
})

test('bytes that are kept for one owner leave the share of the other owner', () => {
  const budget = new ByteBudget(120 * MB)
  const proved = budget.open('channel', 'address')
  expect(proved.add(60 * MB)).toBe(true)
  proved.keepFor('channel')
  expect(takeAll(budget, 'another channel', 'address')).toBe(40 * MB)
  proved.release()
  expect(budget.open('channel').add(50 * MB)).toBe(true)
})

test('released memory can be used again, and a refused piece takes nothing', () => {
  const budget = new ByteBudget(90)
  const call = budget.open('one')
  expect([call.add(60), call.add(1), call.add(1)]).toEqual([true, false, false])
  call.release()
  call.release()
  expect(budget.open('one').add(60)).toBe(true)
})
