import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { callApi } from '../http.ts'
import { accessibilityViolations, consoleFixture, waitForStatus } from './console-browser.ts'
import { approveWithoutHold } from './held-approvals.ts'
import { createMembers } from './sample-data.ts'

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
    await approveWithoutHold(console(), task, () => confirm(page).click())
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
    await approveWithoutHold(console(), task, () => page.keyboard.press('a'))
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

  test('approvals: an edit is in the form again after another person has approved and withdrawn', async () => {
    const { operator } = await createMembers(console())
    const approval = await approvalOf(await letter('Typed before'))
    const other = (method: string, path: string, body?: object) =>
      callApi(console().url, operator, method, `/v1/approvals/${approval}/${path}`, body)
    const page = await console().open(`/approvals?id=${approval}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Subject').fill('Typed and kept')
    await other('POST', 'approve', { hold_s: 60, edited: { subject: 'Held by another person' } })
    const kept = page.getByRole('alert', { name: /^Approved by .+ while you were editing$/ })
    await kept.getByText('Typed and kept').waitFor()
    await page
      .getByRole('region', { name: 'Payload', exact: true })
      .getByText('Held by another person')
      .first()
      .waitFor()
    await other('DELETE', 'held')
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('Typed and kept')
    expect(await kept.count()).toBe(0)
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('approvals: a decision forgets what was edited, and never a comment that was not added', async () => {
    const task = await letter('Commented')
    const page = await console().open(`/approvals?id=${await approvalOf(task)}`)
    await page.getByText('Comments', { exact: false }).first().click()
    await page.getByLabel('Comment', { exact: true }).fill('Ask the client next time')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Subject').fill('An edit that is sent')
    await page.getByRole('button', { name: /^Approve with 1 change/ }).click()
    await approveWithoutHold(console(), task, () => confirm(page).click())
    const kept = page.getByRole('alert', { name: 'Your comment was not added' })
    await kept.getByText('Ask the client next time').waitFor()
    expect(await page.getByRole('alert').count()).toBe(1)
  })

  test('approvals: after the sign-out, the next person reads nothing of what was typed', async () => {
    const task = await letter('Typed before the sign-out')
    const page = await console().open(`/approvals?id=${await approvalOf(task)}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Subject').fill('Only for me')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in')
    await page.getByRole('button', { name: 'API key' }).click()
    const { body: next } = await console().call('POST', '/v1/keys', { name: 'next person', role: 'operator' })
    await page.getByLabel('API key').last().fill(next.key)
    await page.getByRole('button', { name: 'Continue' }).click()
    // The page is not loaded again.
    await page.getByRole('link', { name: /^Approvals/ }).click()
    await page.getByRole('button', { name: /^Approve( with 1 change)? a$/ }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Subject' }).count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    await console().call('POST', `/v1/approvals/${await approvalOf(task)}/reject`)
  })

  test('approvals: a key that is held down is one press, and a form that is submitted twice sends one decision', async () => {
    const task = await letter('Pressed long')
    const page = await console().open(`/approvals?id=${await approvalOf(task)}`)
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
    await page.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    for (const key of ['a', 'Enter']) {
      await page.keyboard.down(key)
      await page.keyboard.down(key)
      await page.keyboard.up(key)
      await confirm(page).waitFor()
      if (key === 'a') {
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Approve a', exact: true }).focus()
      }
    }
    expect(sent).toEqual([])
    await page.keyboard.press('r')
    await page.getByLabel('Reason (optional)').focus()
    await page.evaluate('[1, 2].forEach(() => document.activeElement.form.requestSubmit())')
    await waitForStatus(console(), task, 'rejected')
    expect(sent.filter((path) => path.endsWith('/reject'))).toHaveLength(1)
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
