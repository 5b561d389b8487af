import { expect, test } from 'vitest'
import { dataLimitMb } from '../../../src/execution/sandbox/cgroup/cell-limits.ts'

test('the data limit of a cell includes the code range that Node reserves from version 24 on', () => {
  const limits = (arch: NodeJS.Architecture) =>
    ['v20.19.0', 'v22.23.3', 'v24.21.0', 'v26.12.0'].map((version) =>
      dataLimitMb({ memory_mb: 256 }, { version, arch }),
    )
  expect(limits('x64')).toEqual([256, 256, 768, 768])
  expect(limits('arm64')).toEqual([256, 256, 512, 512])
})
