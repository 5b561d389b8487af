import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL, waitForStatus } from './console-browser.ts'
import { holdForMinute, passHold } from './held-approvals.ts'
import { PAYMENTS } from './payments-wedge.ts'
import { createMembers } from './sample-data.ts'

describe('undo an approval of high risk', () => {
  const console = consoleFixture()
  beforeAll(() => console().restart({}, async () => writeFiles(console().wedgesDir, PAYMENTS)))

  const pay = async (order_id: string, amount_usd = 84.5): Promise<string> => {
    const input = { order_id, amount_usd }
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'payments', task_type: 'pay', input })
    await waitForStatus(console(), body.id, 'awaiting_approval')
    return body.id
  }
  const approvalOf = async (task: string) =>
    (await console().call('GET', `/v1/approvals?task_id=${task}`)).body.data[0].approval_id as string
  const statusOf = async (task: string) => (await console().call('GET', `/v1/tasks/${task}`)).body.status
  const sentOrders = () => console().received.map(({ body }) => JSON.parse(body).order_id)
  /** Opens a page whose approvals are held for a minute. */
  const open = async (
    path: string,
    options: Parameters<ReturnType<typeof console>['newPage']>[0] = {},
  ): Promise<Page> => {
    const page = await console().newPage(options)
    await holdForMinute(page)
    await page.goto(console().url + path)
    return page
  }
  const approveByClick = async (page: Page) => {
    await page.getByRole('button', { name: 'Approve a', exact: true }).click()
    await page.getByRole('button', { name: /press again to confirm/ }).click()
  }
  const undo = (page: Page) => page.getByRole('button', { name: 'Undo u' })

  test('undo: two clicks send a payout after five seconds, and until then nothing is sent', async () => {
    const task = await pay('C-1')
    const page = await open(`/approvals?id=${await approvalOf(task)}`)
    await approveByClick(page)
    await undo(page).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await statusOf(task)).toBe('awaiting_approval')
    expect(sentOrders()).not.toContain('C-1')
    await passHold(console())
    await waitForStatus(console(), task, 'succeeded')
    expect(sentOrders()).toContain('C-1')
    await expect.poll(() => undo(page).count()).toBe(0)
  })

  test('undo: a reload and a closed tab lose nothing, and another member cannot undo', async () => {
    const members = await createMembers(console())
    const task = await pay('T-1')
    const path = `/approvals?id=${await approvalOf(task)}`
    const page = await open(path)
    await approveByClick(page)
    await undo(page).waitFor()
    await page.reload()
    await undo(page).waitFor()
    const other = await console().open(path, { token: members.operator })
    await other.getByText(/^Approved by API key .+ Sending/).waitFor()
    expect(await other.getByRole('button', { name: /^(Undo|Approve a$|Reject r$)/ }).count()).toBe(0)
    await page.close()
    await passHold(console())
    await waitForStatus(console(), task, 'succeeded')
    expect(sentOrders().filter((order) => order === 'T-1')).toHaveLength(1)
    await other.getByText('Approved by API key').first().waitFor()
  })

  test('undo: a click on Undo keeps the approval pending, and the card offers the decision again', async () => {
    const task = await pay('C-2')
    const approval = await approvalOf(task)
    const page = await open(`/approvals?id=${approval}`)
    await approveByClick(page)
    await page.getByRole('button', { name: 'Undo approval' }).waitFor()
    await undo(page).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('id')).toBe(approval)
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    expect(await statusOf(task)).toBe('awaiting_approval')
    expect(sentOrders()).not.toContain('C-2')
    await console().call('POST', `/v1/approvals/${await approvalOf(task)}/reject`)
  })

  test('undo: the form shows the edit again, until it is discarded', async () => {
    const task = await pay('E-1')
    const page = await open(`/approvals?id=${await approvalOf(task)}`)
    await page.getByRole('button', { name: 'Edit e', exact: true }).click()
    const amount = page.getByRole('form', { name: 'Edit' }).getByLabel(/^amount/i)
    await amount.fill('80.25')
    await page.getByRole('button', { name: /^Approve with 1 change/ }).click()
    await page.getByRole('button', { name: /press again to confirm/ }).click()
    await undo(page).waitFor()
    await page.getByRole('link', { name: 'Tasks', exact: true }).click()
    await undo(page).click()
    await page.goBack()
    expect(await amount.inputValue()).toBe('80.25')
    await page.getByRole('button', { name: /^Discard edits/ }).click()
    await page.getByRole('button', { name: 'Edit e', exact: true }).click()
    expect(await amount.inputValue()).toBe('84.5')
    await console().call('POST', `/v1/approvals/${await approvalOf(task)}/reject`)
  })

  test('undo: the keyboard has the same five seconds, and u undoes on every page', async () => {
    const task = await pay('K-1')
    const page = await open(`/approvals?id=${await approvalOf(task)}`)
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('Approve: press again to confirm').waitFor()
    await page.keyboard.press('a')
    await undo(page).waitFor()
    await page.getByRole('link', { name: 'Tasks', exact: true }).click()
    await page.waitForURL('**/tasks')
    await undo(page).waitFor()
    await page.keyboard.press('u')
    await expect.poll(() => undo(page).count()).toBe(0)
    expect(await statusOf(task)).toBe('awaiting_approval')

    await page.goBack()
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('Approve: press again to confirm').waitFor()
    await page.keyboard.press('a')
    await undo(page).waitFor()
    await page.getByRole('link', { name: 'Tasks', exact: true }).click()
    await passHold(console())
    await waitForStatus(console(), task, 'succeeded')
  })

  test('undo: an approval that the list has no room for can be undone, and is counted', async () => {
    const tasks = [await pay('L-1'), await pay('L-2')]
    const [older = '', newer = ''] = await Promise.all(tasks.map(approvalOf))
    const page = await console().newPage()
    await holdForMinute(page)
    // As if the page of the list were full.
    await page.route(/\/v1\/approvals\?.*status=pending/, (route) =>
      route.continue({ url: route.request().url().replace('limit=200', 'limit=1') }),
    )
    await page.goto(`${console().url}/approvals?id=${older}`)
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    const { counts } = (await console().call('GET', '/v1/needs-you')).body
    expect(counts.approval).toBeGreaterThan(1)
    await expect.poll(() => page.title()).toMatch(new RegExp(`^\\(${counts.approval}\\)`))
    await approveByClick(page)
    await undo(page).waitFor()
    await expect.poll(() => page.title()).toMatch(new RegExp(`^\\(${counts.approval - 1}\\)`))
    await undo(page).click()
    await expect.poll(() => undo(page).count()).toBe(0)
    for (const approval of [older, newer]) await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('undo: a person whose approval could not be made reads why, on every page and on the card', async () => {
    const approval = await approvalOf(await pay('R-1'))
    const key = (await console().call('POST', '/v1/keys', { name: 'short lived', role: 'operator' })).body
    const page = await console().newPage({ token: key.key })
    await holdForMinute(page)
    await page.goto(`${console().url}/approvals?id=${approval}`)
    await approveByClick(page)
    await undo(page).waitFor()
    // Only this person may decide from now on.
    await console().app.ctx.store.transact((db) =>
      db.updateTable('approvals').set({ approvers: '["owner"]' }).where('id', '=', approval).execute(),
    )
    await passHold(console())
    await page.getByText(/^Not approved: Refund .*You are not an approver/).waitFor()
    await console().app.ctx.store.transact((db) =>
      db.updateTable('approvals').set({ approvers: null }).where('id', '=', approval).execute(),
    )
    await page.goto(`${console().url}/approvals?id=${approval}`)
    await page.getByText(/^Your approval had no effect: you are not an approver of this request/).waitFor()
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('undo: on a phone the button is on the screen', async () => {
    const task = await pay('P-1')
    const page = await open(`/approvals?id=${await approvalOf(task)}`, { viewport: { width: 390, height: 760 } })
    const approve = page.getByRole('button', { name: 'Approve', exact: true })
    await approve.click()
    await page.getByRole('button', { name: /press again to confirm/ }).click()
    const undoOnPhone = page.getByRole('button', { name: 'Undo', exact: true })
    const box = await undoOnPhone.boundingBox()
    expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y >= 0 && box.y + box.height <= 760).toBe(true)
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await undoOnPhone.click()
    await console().call('POST', `/v1/approvals/${await approvalOf(task)}/reject`)
  })

  test('batch: on a phone the panel is on the screen, and an unknown approval in the URL leaves the list', async () => {
    const task = await pay('P-2')
    const viewport = { width: 390, height: 760 }
    const page = await open('/approvals?id=apr_unknown', { viewport, expected: /status of 404/ })
    await page.getByText('This approval does not exist, or it belongs to another project.').waitFor()
    await page.getByLabel('Select all').check()
    const approve = page.getByRole('region', { name: 'Selected approvals' }).getByRole('button', { name: 'Approve 1' })
    const box = await approve.boundingBox()
    expect(box && box.y >= 0 && box.y + box.height <= viewport.height).toBe(true)
    expect(await accessibilityViolations(page)).toEqual([])
    await console().call('POST', `/v1/approvals/${await approvalOf(task)}/reject`)
  })

  test('batch: it says what it does, can be undone, and shows what was approved and what failed', async () => {
    const tasks = []
    for (const amount of [100, 150, 199.9, 0.1]) tasks.push(await pay(`B-${amount}`, amount))
    const page = await open('/approvals')
    const panel = page.getByRole('region', { name: 'Selected approvals' })
    await page.getByLabel('Select all').check()
    await panel.getByText('4 refunds, $450.00').waitFor()
    // The focus is on the checkbox.
    await page.keyboard.press('a')
    await panel.getByRole('button', { name: /press again to confirm/ }).click()
    await undo(page).waitFor()
    const other = await console().open('/tasks')
    await other.getByRole('status').getByText('4 refunds, $450.00').waitFor()
    expect(await undo(other).count()).toBe(1)
    await other.close()
    await undo(page).click()
    await panel.getByRole('button', { name: 'Approve 4' }).waitFor()
    for (const task of tasks) expect(await statusOf(task)).toBe('awaiting_approval')

    // Another member decides one of them first.
    await console().call('POST', `/v1/approvals/${await approvalOf(tasks[0] ?? '')}/reject`)
    await panel.getByRole('button', { name: 'Approve 4' }).click()
    await panel.getByRole('button', { name: /press again to confirm/ }).click()
    await undo(page).waitFor()
    await passHold(console())
    await panel.getByRole('heading', { name: '3 decided, 1 failed' }).waitFor()
    // The heading counts what is held as well.
    await panel.getByText('Approved: 3 refunds, $350.00').waitFor()
    expect(await panel.getByRole('list', { name: 'Results' }).getByRole('listitem').allTextContents()).toEqual([
      'Approved: 3 refunds, $350.00',
      'Failed: 1 refund, $100.00',
    ])
    expect(await accessibilityViolations(page)).toEqual([])
    for (const task of tasks.slice(1)) await waitForStatus(console(), task, 'succeeded')
  })
})
