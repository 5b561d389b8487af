import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createIdGenerator, createId } from '../../../src/platform/base/ids.ts'

const zeros = (bytes: number) => new Uint8Array(bytes)
const ones = (bytes: number) => new Uint8Array(bytes).fill(255)
const moment = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const idOf = (bytes: Uint8Array) => createId('task', 1, () => bytes)
const tenBytes = fc.uint8Array({ minLength: 10, maxLength: 10 })

describe('ids', () => {
  test.each([
    ['the example time of the ULID specification', 1469918176385, '01aryz6s41'],
    ['the first millisecond', 0, '0000000000'],
    ['the last millisecond', 2 ** 48 - 1, '7zzzzzzzzz'],
  ])('%s is written as in the ULID layout', (_, now, time) => {
    expect(createId('task', now, zeros)).toBe(`task_${time}0000000000000000`)
    expect(createId('prj', now, ones)).toBe(`prj_${time}zzzzzzzzzzzzzzzz`)
  })

  test('an id is its prefix and 26 lower-case Crockford characters', () => {
    fc.assert(
      fc.property(moment, tenBytes, (now, bytes) => {
        expect(createId('apr', now, () => bytes)).toMatch(/^apr_[0-9a-hjkmnp-tv-z]{26}$/)
      }),
    )
  })

  test('ids of later milliseconds sort after earlier ones', () => {
    fc.assert(
      fc.property(moment, moment, tenBytes, tenBytes, (a, b, left, right) => {
        fc.pre(a < b)
        expect(createId('task', a, () => left) < createId('task', b, () => right)).toBe(true)
      }),
    )
  })

  test('ids stay in order when the clock is set back', () => {
    let now = 5_000
    const newId = createIdGenerator(() => now, zeros)
    const before = newId('task')
    now = 1_000
    const after = [newId('task'), newId('apr'), newId('task')]
    expect(before < (after[0] ?? '') && (after[0] ?? '') < (after[2] ?? '')).toBe(true)
    expect(after[2]).toBe(createId('task', 5_003, zeros))
    now = 9_000
    expect(newId('task')).toBe(createId('task', 9_000, zeros))
  })

  test('ids sort by all 80 random bits', () => {
    fc.assert(
      fc.property(tenBytes, tenBytes, (left, right) => {
        expect(Buffer.compare(Buffer.from(idOf(left)), Buffer.from(idOf(right)))).toBe(Buffer.compare(left, right))
      }),
    )
  })

  test('fractions of a millisecond are ignored', () => {
    expect(createId('key', 12.75, zeros)).toBe(createId('key', 12, zeros))
  })
})
