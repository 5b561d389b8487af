import { expect, test } from 'vitest'
import { findGroupSupport } from '../../../src/execution/sandbox/cgroup/grouped-start.ts'
import { processDriver } from '../../../src/execution/sandbox/process/process-driver.ts'
import { bundledWorkflowProgram, openWorkflowRunner, problemFrom, wedgeWithWorkflows } from './workflow-wedge.ts'

const program = bundledWorkflowProgram()
const driver = processDriver(() => {}, findGroupSupport())

test('without bubblewrap, workflows run without environment variables and without files of the machine', async () => {
  const runner = openWorkflowRunner(driver, program.dir)
  const wedge = await wedgeWithWorkflows({
    main: `import { twice } from './lib/twice.mjs'
      export default async (n) => [twice(n), typeof process, await import('node:fs').catch((error) => error.message.split(':')[0])]`,
    'lib/twice': 'export const twice = (n) => 2 * n',
  })
  expect(await runner.call(wedge, 'prj_1', 'main', 21)).toEqual([42, 'undefined', "workflows cannot import 'node"])
  expect(await runner.call(wedge, 'prj_1', 'main', 1)).toEqual([2, 'undefined', "workflows cannot import 'node"])
  expect(runner.processCount).toBe(1)
})

test('without bubblewrap, an endless workflow is ended at the timeout', async () => {
  const runner = openWorkflowRunner(driver, program.dir, { timeoutMs: 300 })
  const wedge = await wedgeWithWorkflows({ main: 'export default () => { for (;;); }' })
  expect(await problemFrom(runner.call(wedge, 'prj_1', 'main', {}))).toEqual([
    504,
    "workflow 'main' took longer than 300 ms",
  ])
})

test('the error for a workflow process that cannot start contains no internal details', async () => {
  const brokenRunner = openWorkflowRunner(driver, import.meta.dirname)
  const wedge = await wedgeWithWorkflows({ main: 'export default () => 1' })
  expect(await problemFrom(brokenRunner.call(wedge, 'prj_1', 'main', {}))).toEqual([
    503,
    "workflow 'main' could not be started",
  ])
  expect(brokenRunner.processCount).toBe(0)
})
