import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    pool: 'forks',
    // Files of one worker share what they import, which would be a seventh of all the time; nothing of ours keeps state there.
    isolate: false,
    // Some files wait for outages and leases more than they compute, so there is always one more than there are cores.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    watch: false,
  },
})
