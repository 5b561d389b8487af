import { expect, test } from 'vitest'
import { dataLimitMb } from '../../src/sandbox/cell-limits.ts'

test('a cell has room for the code that newer versions of Node reserve, beside its own memory', () => {
  expect(
    ['20.19.0', '22.23.3', '24.9.0', '26.12.0'].map((version) => dataLimitMb({ memory_mb: 256 }, version)),
  ).toEqual([256, 256, 768, 768])
})
