import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { SlowFilesFirst } from './test/file-order.ts'
import { IS_MATRIX } from './test/matrix.ts'
import { IS_QUICK, listQuickFiles } from './test/quick-files.ts'

export default defineConfig({
  test: {
    include: IS_QUICK ? listQuickFiles() : ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(IS_MATRIX ? [] : ['test/**/*.matrix.test.ts'])],
    globalSetup: ['test/global-setup.ts'],
    sequence: { sequencer: SlowFilesFirst },
    pool: 'forks',
    // Files of one worker share what they import, which would be a seventh of all the time; nothing of ours keeps state there.
    isolate: false,
    // Many tests wait for outages, leases and other processes, so that two more workers than cores keep the cores busy.
    maxWorkers: availableParallelism() + 2,
    // Only ends a test that hangs: on a busy machine a healthy test can take minutes.
    testTimeout: 400_000,
    hookTimeout: 400_000,
    expect: { poll: { timeout: 180_000 } },
    watch: false,
  },
})
