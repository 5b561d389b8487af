import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { starterWedgeFiles } from '../../src/programs/cli/wedge/starter-wedge.ts'
import { writeFiles } from '../app.ts'
import { consoleFixture } from './console-browser.ts'

describe('a wedge of `svc wedge new` in the console', () => {
  const console = consoleFixture()

  test('the form is filled in, and the first run succeeds after its approval', async () => {
    writeFiles(join(console().app.ctx.config.wedgesDir, 'shop-helper'), starterWedgeFiles('shop-helper'))
    expect((await console().call('GET', '/v1/wedges/shop-helper')).body.task_types.answer).toMatchObject({
      input_schema: { required: ['from', 'body'] },
      example: { from: { handle: 'kim@example.com' } },
    })
    const page = await console().open('/run?wedge=shop-helper')
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('Opening hours')
    expect(await page.getByLabel('Body').inputValue()).toBe('When are you open on Friday?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('What the agent asks to do').waitFor()
    const approve = page.getByRole('button', { name: /^Approve/ }).first()
    await approve.click()
    await approve.click()
    const statusOfTask = async () => (await console().call('GET', '/v1/tasks?wedge=shop-helper')).body.data[0].status
    await expect.poll(statusOfTask).toBe('succeeded')
  })
})
