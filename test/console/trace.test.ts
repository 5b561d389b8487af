import { describe, expect, test } from 'vitest'
import { barriers, sharedConsole } from './browser.ts'

describe('the trace of a task, where nothing runs', () => {
  const console = sharedConsole({ SVC_MAX_CONCURRENT_TASKS: '0' })

  test('says before the run begins that there is none yet, and shows in red how it ended', async () => {
    const { body: task } = await console().call('POST', '/v1/tasks', { wedge: 'poems', task_type: 'recite' })
    const page = await console().open(`/tasks/${task.id}?view=trace`)
    await page.getByText('There is no trace').waitFor()
    expect(await barriers(page)).toEqual([])
    await console().call('POST', `/v1/tasks/${task.id}/cancel`)
    await page.getByRole('button', { name: 'poems/recite' }).waitFor()
    await page.getByText('task · failed').waitFor()
    await expect.poll(() => page.getByLabel('Trace', { exact: true }).locator('.bg-bad').count()).toBe(1)
  })
})
