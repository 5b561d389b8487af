import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL, waitForStatus } from './console-browser.ts'
import { PAYMENTS } from './payments-wedge.ts'

/** Timers of five seconds wait for `passFiveSeconds`, so that a slow machine cannot miss them. */
const HOLD_TIMERS = `{
  const [set, clear] = [window.setTimeout, window.clearTimeout]
  const held = new Map()
  window.setTimeout = (run, ms, ...args) => {
    if (ms !== 5000) return set(run, ms, ...args)
    held.set(-1 - held.size, run)
    return -held.size
  }
  window.clearTimeout = (id) => (held.has(id) ? held.set(id, () => {}) : clear(id))
  window.passFiveSeconds = () => {
    for (const [id, run] of [...held]) (held.set(id, () => {}), run())
  }
}`

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
  /** Opens a page in which the five seconds pass only when `passFiveSeconds` is called. */
  const open = async (path: string, viewport?: { width: number; height: number }): Promise<Page> => {
    const page = await console().newPage(viewport ? { viewport } : {})
    await page.addInitScript(HOLD_TIMERS)
    await page.goto(console().url + path)
    return page
  }
  const passFiveSeconds = (page: Page) => page.evaluate('passFiveSeconds()')
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
    await passFiveSeconds(page)
    await waitForStatus(console(), task, 'succeeded')
    expect(sentOrders()).toContain('C-1')
    await expect.poll(() => undo(page).count()).toBe(0)
  })

  test('undo: the console sends the approval five seconds after the second click, not sooner', async () => {
    const task = await pay('T-1')
    const page = await console().open(`/approvals?id=${await approvalOf(task)}`)
    const sent = page.waitForRequest(/\/approve$/, { timeout: 120_000 }).then(() => Date.now())
    await page.getByRole('button', { name: 'Approve a', exact: true }).click()
    const confirm = page.getByRole('button', { name: /press again to confirm/ })
    await confirm.waitFor()
    const start = Date.now()
    await confirm.click()
    expect((await sent) - start).toBeGreaterThanOrEqual(5_000)
    await waitForStatus(console(), task, 'succeeded')
  })

  test('undo: a click on Undo keeps the approval pending, and the card offers the decision again', async () => {
    const task = await pay('C-2')
    const page = await open(`/approvals?id=${await approvalOf(task)}`)
    await approveByClick(page)
    await page.getByText('Approved and not sent yet.').waitFor()
    await undo(page).click()
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    await passFiveSeconds(page)
    await page.reload()
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    expect(await statusOf(task)).toBe('awaiting_approval')
    expect(sentOrders()).not.toContain('C-2')
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
    await passFiveSeconds(page)
    expect(await statusOf(task)).toBe('awaiting_approval')

    await page.goBack()
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('Approve: press again to confirm').waitFor()
    await page.keyboard.press('a')
    await undo(page).waitFor()
    await page.getByRole('link', { name: 'Tasks', exact: true }).click()
    await passFiveSeconds(page)
    await waitForStatus(console(), task, 'succeeded')
  })

  test('undo: on a phone the button is on the screen', async () => {
    const task = await pay('P-1')
    const page = await open(`/approvals?id=${await approvalOf(task)}`, { width: 390, height: 760 })
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

  test('batch: it says what it does, can be undone, and shows what was approved and what failed', async () => {
    const tasks = []
    for (const amount of [100, 150, 199.9, 0.1]) tasks.push(await pay(`B-${amount}`, amount))
    const page = await open('/approvals')
    const panel = page.getByRole('region', { name: 'Selected approvals' })
    await page.getByLabel('Select all').check()
    await panel.getByText('4 refunds, $450.00').waitFor()
    await panel.getByRole('button', { name: 'Approve 4' }).click()
    await panel.getByRole('button', { name: /press again to confirm/ }).click()
    await undo(page).click()
    await passFiveSeconds(page)
    for (const task of tasks) expect(await statusOf(task)).toBe('awaiting_approval')

    // Another member decides one of them first.
    await console().call('POST', `/v1/approvals/${await approvalOf(tasks[0] ?? '')}/reject`)
    await panel.getByRole('button', { name: 'Approve 4' }).click()
    await panel.getByRole('button', { name: /press again to confirm/ }).click()
    await undo(page).waitFor()
    await passFiveSeconds(page)
    await panel.getByRole('heading', { name: '3 decided, 1 failed' }).waitFor()
    expect(await panel.getByRole('list', { name: 'Results' }).getByRole('listitem').allTextContents()).toEqual([
      'Approved: 3 refunds, $350.00',
      'Failed: 1 refund, $100.00',
    ])
    expect(await accessibilityViolations(page)).toEqual([])
    for (const task of tasks.slice(1)) await waitForStatus(console(), task, 'succeeded')
  })
})
