import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture, waitForStatus } from './console-browser.ts'
import { holdForMinute, passHold } from './held-approvals.ts'

describe('approvals page', () => {
  const console = consoleFixture()
  const run = async (body: object) => (await console().call('POST', '/v1/tasks', body)).body.id as string
  const refund = (order_id: string) =>
    run({ wedge: 'refund-desk', task_type: 'handle_request', input: { order_id, amount_usd: 84.5, reason: 'broken' } })
  const letter = (subject: string) =>
    run({ wedge: 'letters', task_type: 'write', input: { to: 'bob@example.com', subject } })
  const statusOf = async (taskId: string) => (await console().call('GET', `/v1/tasks/${taskId}`)).body.status
  const approvalOf = async (taskId: string): Promise<string> => {
    await waitForStatus(console(), taskId, 'awaiting_approval')
    return (await console().call('GET', `/v1/approvals?task_id=${taskId}`)).body.data[0].approval_id
  }
  const rows = (page: Page) => page.getByRole('list', { name: 'Approvals' }).getByRole('listitem')

  test('approvals: several are decided at once by keyboard, and each result is shown', async () => {
    const tasks = [await refund('B-1'), await refund('B-2'), await refund('B-3')]
    const approvals = []
    for (const task of tasks) approvals.push(await approvalOf(task))
    const page = await console().newPage()
    await holdForMinute(page)
    await page.goto(`${console().url}/approvals`)
    await expect.poll(() => rows(page).count()).toBe(3)
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByRole('heading', { name: '2 selected' }).waitFor()
    await page.keyboard.press('X')
    await page.getByRole('heading', { name: '3 selected' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])

    // Another member decides the second one first.
    await console().call('POST', `/v1/approvals/${approvals[1]}/reject`)
    await page.keyboard.press('a')
    await page.getByText('Approve 3: press again to confirm').waitFor()
    expect(await statusOf(tasks[0] ?? '')).toBe('awaiting_approval')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: '2 decided, 1 failed' }).waitFor()
    const outcomes = page.getByRole('list', { name: 'Selected approvals' }).getByRole('listitem')
    const countOutcomes = async (...ends: string[]) => {
      const texts = await outcomes.allTextContents()
      return ends.map((end) => texts.filter((text) => text.endsWith(end)).length)
    }
    expect(await countOutcomes('sending', 'already decided (rejected)')).toEqual([2, 1])
    await passHold(console())
    await expect.poll(() => countOutcomes('approved', 'already decided (rejected)')).toEqual([2, 1])
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByText('No pending approvals').waitFor()
    for (const task of [tasks[0], tasks[2]]) await waitForStatus(console(), task ?? '', 'succeeded')
  })

  test('approvals: several are rejected with one reason', async () => {
    const tasks = []
    for (let n = 1; n <= 9; n++) tasks.push(await refund(`R-${n}`))
    for (const task of tasks) await approvalOf(task)
    // The newest is the last one of the page.
    const { data } = (await console().call('GET', '/v1/approvals?status=pending')).body
    const page = await console().open(`/approvals?id=${data[0].approval_id}`, {
      viewport: { width: 1_440, height: 500 },
    })
    await expect.poll(() => rows(page).count()).toBe(9)
    // The link opened the last one, which the list shows although it is far down.
    const isOpenShown = `(() => {
      const row = document.querySelector('li [aria-current=true]')?.getBoundingClientRect()
      return row !== undefined && row.top > 0 && row.bottom <= innerHeight && scrollY === 0
    })()`
    await expect.poll(() => page.evaluate(isOpenShown)).toBe(true)
    await page.setViewportSize({ width: 390, height: 844 })
    const position = page.getByRole('navigation', { name: 'Position in the list' })
    await position.getByText('9 of 9').waitFor()
    expect(await position.getByRole('button', { name: 'Next approval' }).isDisabled()).toBe(true)
    await position.getByRole('button', { name: 'Previous approval' }).click()
    await position.getByText('8 of 9').waitFor()
    await page.getByLabel('Select all').check()
    // The list of the selected ones scrolls, also with the keyboard.
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Reject 9' }).click()
    await page.getByLabel('Reason (optional)').fill('closed today')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: '9 approvals decided' }).waitFor()
    const { body } = await console().call('GET', `/v1/approvals?task_id=${tasks[1]}`)
    expect(body.data[0]).toMatchObject({ status: 'rejected', reason: 'closed today' })
  })

  test('approvals and tasks: a tab shows no number until it is known', async () => {
    for (const [path, label] of [
      ['approvals', 'Pending'],
      ['tasks', 'Not started'],
    ] as const) {
      const page = await console().newPage()
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route(`**/v1/${path}?**`, (route) => released.then(() => route.continue()))
      await page.goto(`${console().url}/${path}`)
      const tab = page.getByRole('button', { name: new RegExp(`^${label}`) })
      expect(await tab.textContent()).toBe(label)
      release()
      await expect.poll(() => tab.textContent()).toMatch(/\d$/)
    }
  })

  test('approvals: the connection of an action is shown on the approvals page and on the task page', async () => {
    const task = await run({ wedge: 'letters', task_type: 'pretend', input: { to: 'bob@example.com' } })
    const approval = await approvalOf(task)
    const summary = 'Send (bank) through post to bob@example.com'
    const page = await console().open(`/approvals?id=${approval}`)
    await rows(page).getByText(summary, { exact: true }).waitFor()
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByRole('heading', { name: summary }).waitFor()
    await card.getByRole('heading', { name: 'What will be sent through connection post' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.goto(`${console().url}/tasks/${task}`)
    await card.getByRole('heading', { name: 'What will be sent through connection post' }).waitFor()
    await page.locator('summary').getByText(summary).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('external actions: the list shows the payload and the result of each call', async () => {
    const task = await letter('Good morning')
    const approval = await approvalOf(task)
    const page = await console().open(`/tasks/${task}`)
    await page.getByRole('button', { name: 'External actions' }).click()
    await page.getByText('No external actions').waitFor()
    await console().call('POST', `/v1/approvals/${approval}/approve`, { edited: { subject: 'Good evening' } })
    const effects = page.getByRole('list', { name: 'External actions' })
    await effects.getByText('succeeded', { exact: true }).waitFor()
    await effects.getByText('Send through post').click()
    await effects.getByText('Good evening').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await effects.getByRole('link', { name: 'View approval' }).click()
    await page.waitForURL(`**/approvals?id=${approval}`)
    await page.getByRole('list', { name: 'Changes' }).getByText('Good evening').waitFor()
  })

  test('external actions: the task page warns about a call without a response', async () => {
    const task = await letter('Unanswered')
    const approval = await approvalOf(task)
    await console().call('POST', `/v1/approvals/${approval}/approve`)
    const page = await console().open(`/tasks/${task}?view=effects`)
    await page
      .getByRole('alert')
      .getByText(/^Send through post: sent at .*; no response from post\.$/)
      .waitFor()
    await page.getByText('unknown result').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })
})
