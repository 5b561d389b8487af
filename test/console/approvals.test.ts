import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { barriers, sharedConsole } from './browser.ts'

describe('the approval inbox', () => {
  const console = sharedConsole()
  const run = async (body: object) => (await console().call('POST', '/v1/tasks', body)).body.id as string
  const refund = (order_id: string) =>
    run({ wedge: 'refund-desk', task_type: 'handle_request', input: { order_id, amount_usd: 84.5, reason: 'broken' } })
  const letter = (subject: string) =>
    run({ wedge: 'letters', task_type: 'write', input: { to: 'bob@example.com', subject } })
  const statusOf = async (taskId: string) => (await console().call('GET', `/v1/tasks/${taskId}`)).body.status
  const approvalOf = async (taskId: string): Promise<string> => {
    const pending = async () => (await console().call('GET', `/v1/approvals?task_id=${taskId}`)).body.data[0]
    await expect.poll(pending, { timeout: 30_000 }).toBeTruthy()
    return (await pending()).approval_id
  }
  const rows = (page: Page) => page.getByRole('list', { name: 'Approvals' }).getByRole('listitem')

  test('answers several at once by keyboard, each by a call of its own, and says what came of each', async () => {
    const tasks = [await refund('B-1'), await refund('B-2'), await refund('B-3')]
    const approvals = []
    for (const task of tasks) approvals.push(await approvalOf(task))
    const page = await console().open('/approvals')
    await expect.poll(() => rows(page).count(), { timeout: 30_000 }).toBe(3)
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByRole('heading', { name: '2 picked' }).waitFor()
    await page.keyboard.press('X')
    await page.getByRole('heading', { name: '3 picked' }).waitFor()
    expect(await barriers(page)).toEqual([])

    // Somebody else is quicker with the second.
    await console().call('POST', `/v1/approvals/${approvals[1]}/reject`)
    await page.keyboard.press('a')
    await page.getByText('Approve 3: press a or Enter').waitFor()
    expect(await statusOf(tasks[0] ?? '')).toBe('awaiting_approval')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: '2 answered, 1 refused' }).waitFor()
    const outcomes = await page.getByRole('list', { name: 'Picked' }).getByRole('listitem').allTextContents()
    const counted = ['approved', 'already decided (rejected)'].map(
      (end) => outcomes.filter((text) => text.endsWith(end)).length,
    )
    expect(counted).toEqual([2, 1])
    expect(await barriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByText('Nothing waits for you').waitFor()
    for (const task of [tasks[0], tasks[2]]) {
      await expect.poll(() => statusOf(task ?? ''), { timeout: 30_000 }).toBe('succeeded')
    }
  })

  test('rejects several with one reason', async () => {
    const tasks = [await refund('R-1'), await refund('R-2')]
    for (const task of tasks) await approvalOf(task)
    const page = await console().open('/approvals')
    await expect.poll(() => rows(page).count(), { timeout: 30_000 }).toBe(2)
    await page.getByLabel('Pick all').check()
    await page.getByRole('button', { name: 'Reject 2' }).click()
    await page.getByLabel('Why not?').fill('closed today')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'All 2 answered' }).waitFor()
    const { body } = await console().call('GET', `/v1/approvals?task_id=${tasks[1]}`)
    expect(body.data[0]).toMatchObject({ status: 'rejected', reason: 'closed today' })
  })

  test('says through which connection an action goes, wherever a person decides on it', async () => {
    const task = await run({ wedge: 'letters', task_type: 'pretend', input: { to: 'bob@example.com' } })
    const approval = await approvalOf(task)
    const sentence = 'Send (bank) through post to bob@example.com'
    const page = await console().open(`/approvals?id=${approval}`)
    await rows(page).getByText(sentence, { exact: true }).waitFor()
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByRole('heading', { name: sentence }).waitFor()
    await card.getByRole('heading', { name: 'What will be sent through the connection post' }).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.goto(`${console().url}/tasks/${task}`)
    await card.getByRole('heading', { name: 'What will be sent through the connection post' }).waitFor()
    await page.locator('summary').getByText(sentence).waitFor()
    expect(await barriers(page)).toEqual([])
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('shows in the ledger what left, what was in it and that it arrived', async () => {
    const task = await letter('Good morning')
    const approval = await approvalOf(task)
    const page = await console().open(`/tasks/${task}`)
    await page.getByRole('button', { name: 'Effects' }).click()
    await page.getByText('Nothing has left the service').waitFor()
    await console().call('POST', `/v1/approvals/${approval}/approve`, { edited: { subject: 'Good evening' } })
    const ledger = page.getByRole('list', { name: 'Effects' })
    await ledger.getByText('done', { exact: true }).waitFor()
    await ledger.getByText('Send through post').click()
    await ledger.getByText('Good evening').waitFor()
    expect(await barriers(page)).toEqual([])
    await ledger.getByRole('link', { name: 'who let it pass' }).click()
    await page.waitForURL(`**/approvals?id=${approval}`)
    await page.getByRole('list', { name: 'Changes' }).getByText('Good evening').waitFor()
  })

  test('says on the task that nobody knows whether an action happened', async () => {
    const task = await letter('Unanswered')
    const approval = await approvalOf(task)
    await console().call('POST', `/v1/approvals/${approval}/approve`)
    const page = await console().open(`/tasks/${task}?view=effects`)
    await page
      .getByRole('alert')
      .getByText(/^Send through post left at .*, and post never answered\.$/)
      .waitFor()
    await page.getByText('outcome unknown').waitFor()
    expect(await barriers(page)).toEqual([])
  })
})
