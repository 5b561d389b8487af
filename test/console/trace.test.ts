import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

describe('trace without a run', () => {
  const console = consoleFixture({ SVC_MAX_CONCURRENT_TASKS: '0' })

  test('trace: it is empty before the run starts and shows a cancelled task as failed', async () => {
    const { body: task } = await console().call('POST', '/v1/tasks', { wedge: 'poems', task_type: 'recite' })
    const page = await console().open(`/tasks/${task.id}?view=trace`)
    await page.getByText('No trace').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await console().call('POST', `/v1/tasks/${task.id}/cancel`)
    await page.getByRole('button', { name: 'poems/recite' }).waitFor()
    await page.getByText('task · failed').waitFor()
    await expect.poll(() => page.getByLabel('Trace', { exact: true }).locator('.bg-bad').count()).toBe(1)
    await page.goto(`${console().url}/tasks/${task.id}`)
    await page.getByRole('log', { name: 'Task log' }).getByText('Not started').waitFor()
  })
})
