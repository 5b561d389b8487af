import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { LONG_FILES, spread, WAITING_FILES } from './file-order.ts'

test('every folder in the order of test files exists', () => {
  const exists = (name: string) =>
    readdirSync(dirname(name)).some((file) => join(dirname(name), file).startsWith(name.replace(/\/$/, '')))
  const unknown = [...WAITING_FILES, ...LONG_FILES].filter((name) => !exists(name))
  expect(unknown).toEqual([])
})

test('files that wait are spread over the first part of the others, and none is lost', () => {
  const others = Array.from({ length: 10 }, (_, n): string | number => n)
  expect(spread(['a', 'b', 'c'], others)).toEqual(['a', 0, 1, 'b', 2, 3, 'c', 4, 5, 6, 7, 8, 9])
  expect(spread<string | number>(['a', 'b', 'c'], [1])).toEqual(['a', 'b', 'c', 1])
  expect(spread(['a'], [])).toEqual(['a'])
  expect(spread([], [1, 2])).toEqual([1, 2])
})
