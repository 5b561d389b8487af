import { expect, test } from 'vitest'
import { dataLimitMb } from '../../src/sandbox/cell-limits.ts'

test('the data limit of a cell includes the code range that Node reserves from version 24 on', () => {
  expect(
    ['20.19.0', '22.23.3', '24.9.0', '26.12.0'].map((version) => dataLimitMb({ memory_mb: 256 }, version)),
  ).toEqual([256, 256, 768, 768])
})
