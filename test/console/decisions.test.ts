import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture, waitForStatus } from './console-browser.ts'

describe('decisions and their traces', () => {
  const console = consoleFixture()
  const letter = async (subject: string): Promise<string> => {
    const input = { to: 'bob@example.com', subject }
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'letters', task_type: 'write', input })
    await waitForStatus(console(), body.id, 'awaiting_approval')
    return body.id
  }
  const approvalOf = async (task: string) =>
    (await console().call('GET', `/v1/approvals?task_id=${task}`)).body.data[0].approval_id as string
  const statusOf = async (task: string) => (await console().call('GET', `/v1/tasks/${task}`)).body.status
  const confirm = (page: Page) => page.getByRole('button', { name: /^Approve.*: press again to confirm$/ })

  test('approvals: a click asks for a second one, as the keyboard does, and a double click does not count', async () => {
    const task = await letter('Click')
    const page = await console().open(`/approvals?id=${await approvalOf(task)}`)
    await page.getByRole('button', { name: 'Approve a', exact: true }).dblclick()
    await confirm(page).waitFor()
    expect(await statusOf(task)).toBe('awaiting_approval')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Approve a', exact: true }).click()
    await confirm(page).click()
    await waitForStatus(console(), task, 'succeeded')
  })

  test('approvals: edits are kept when the keyboard confirms', async () => {
    const task = await letter('Draft')
    const page = await console().open(`/approvals?id=${await approvalOf(task)}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Subject').fill('Final')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Approve with 1 change: press again to confirm' }).waitFor()
    await page.keyboard.press('a')
    await waitForStatus(console(), task, 'succeeded')
    expect(JSON.parse(console().received.at(-1)?.body ?? '')).toMatchObject({ subject: 'Final' })
  })

  test('approvals: what was typed is kept when another person decides, with the name and a button that copies it', async () => {
    const [edited, noted] = [await letter('Typed edit'), await letter('Typed note')]
    const page = await console().open(`/approvals?id=${await approvalOf(edited)}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Subject').fill('A much better subject')
    await console().call('POST', `/v1/approvals/${await approvalOf(edited)}/reject`)
    const kept = page.getByRole('alert', { name: /^Rejected by API key .+ while you were editing$/ })
    await kept.getByText('A much better subject').waitFor()
    await kept.getByRole('button', { name: 'Copy my text' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await kept.getByRole('button', { name: 'Dismiss my text' }).click()
    await kept.waitFor({ state: 'detached' })

    await page.goto(`${console().url}/approvals?id=${await approvalOf(noted)}`)
    await page.getByRole('button', { name: 'Revise' }).click()
    await page.getByLabel('Note for the agent').fill('Please be kinder')
    await console().call('POST', `/v1/approvals/${await approvalOf(noted)}/approve`)
    const note = page.getByRole('alert', { name: /^Approved by API key .+ while you were editing$/ })
    await note.getByText('Please be kinder').waitFor()
  })

  test('approvals: a request is sent back with a note, nothing is sent, and the task continues', async () => {
    const task = await letter('Too rude')
    const approval = await approvalOf(task)
    const page = await console().open(`/approvals?id=${approval}`)
    await page.getByRole('button', { name: 'Revise' }).click()
    const send = page.getByRole('button', { name: 'Send back' })
    expect(await send.isDisabled()).toBe(true)
    // What the note is about stays on the screen.
    await page.getByRole('region', { name: 'Payload', exact: true }).getByText('Too rude').waitFor()
    await page.getByLabel('Note for the agent').fill('Say it politely.')
    expect(await accessibilityViolations(page)).toEqual([])
    await send.click()
    await waitForStatus(console(), task, 'succeeded')
    expect(
      console()
        .received.map(({ body }) => body)
        .join(),
    ).not.toContain('Too rude')
    await page.goto(`${console().url}/approvals?status=rejected&id=${approval}`)
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByText('Sent back', { exact: true }).waitFor()
    await card.getByText('“Say it politely.”').waitFor()
    await page.goto(`${console().url}/tasks/${task}`)
    await page.getByText('sent back', { exact: true }).waitFor()
  })

  test('approvals: several need a second click too', async () => {
    const tasks = [await letter('One'), await letter('Two')]
    const page = await console().open('/approvals')
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Approve 2' }).click()
    await confirm(page).waitFor()
    expect(await statusOf(tasks[0] ?? '')).toBe('awaiting_approval')
    await confirm(page).click()
    await page.getByRole('heading', { name: '2 approvals decided' }).waitFor()
  })

  test('approvals: an expired one says so without internal names, and so does its task', async () => {
    const task = await letter('Late')
    const approval = await approvalOf(task)
    const expires_at = new Date(Date.now() - 1_000).toISOString()
    const { db } = console().app.ctx
    await db.updateTable('approvals').set({ expires_at }).where('id', '=', approval).execute()
    const page = await console().open(`/approvals?status=expired&id=${approval}`)
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByText('No decision before it expired').waitFor()
    expect(await card.textContent()).not.toContain('system')
    await page.goto(`${console().url}/tasks/${task}`)
    await page.getByRole('alert').getByText('Nobody decided in time').waitFor()
    expect(await page.getByRole('alert').textContent()).not.toContain('/v1/')
  })

  test('external actions: a closed row shows the recipient and that it opens', async () => {
    const task = await letter('Shown')
    await console().call('POST', `/v1/approvals/${await approvalOf(task)}/approve`, {
      edited: { to: 'eve@example.com' },
    })
    await waitForStatus(console(), task, 'succeeded')
    const page = await console().open(`/tasks/${task}?view=effects`)
    const row = page.getByRole('list', { name: 'External actions' }).locator('summary')
    await row.getByText('Send through post to eve@example.com').waitFor()
    expect(await row.locator('svg').count()).toBe(1)
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('knowledge: a list after a line of text is shown as a list', async () => {
    const content = 'A person changed it.\nChanged:\n- amount_usd from 84.5 to 70\n- note added\nProposed: {}'
    await console().call('POST', '/v1/wedges/refund-desk/knowledge', { name: 'fix', content })
    const page = await console().open('/wedges/refund-desk?view=knowledge')
    await page.getByRole('button', { name: /fix/ }).click()
    const preview = page.getByRole('region', { name: 'Preview' })
    await expect
      .poll(() => preview.getByRole('listitem').allTextContents())
      .toEqual(['amount_usd from 84.5 to 70', 'note added'])
    await preview.getByText('Proposed: {}', { exact: true }).waitFor()
  })

  test('task titles: ids are left out', async () => {
    const thread_id = 'thr_01m7jx0000000000000000000a'
    const input = { to: 'Kim', subject: 'Locked out', thread_id }
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'letters', task_type: 'write', input })
    await waitForStatus(console(), body.id, 'awaiting_approval')
    const page = await console().open('/tasks')
    const link = page.locator(`a[href$="${body.id}"]`)
    await link.getByText('Kim · Locked out').waitFor()
    expect(await link.textContent()).not.toContain('thr_')
  })
})
