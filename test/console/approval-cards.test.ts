import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { callApi } from '../http.ts'
import {
  accessibilityViolations,
  consoleFixture,
  HAS_HORIZONTAL_SCROLL,
  violationsInBothThemes,
  waitForStatus,
} from './console-browser.ts'
import { approveWithoutHold } from './held-approvals.ts'
import { PAYMENTS, UPDATE_TICKET } from './payments-wedge.ts'
import { createMembers } from './sample-data.ts'

const WIDTHS = [390, 1440]

describe('approval cards', () => {
  const console = consoleFixture()
  let members: Awaited<ReturnType<typeof createMembers>>
  beforeAll(async () => {
    await console().restart({}, async () => writeFiles(console().wedgesDir, PAYMENTS))
    members = await createMembers(console())
  })

  const create = async (path: string, body: object) => (await console().call('POST', path, body)).body
  const run = async (task_type: string, input: object = {}): Promise<string> => {
    const { id } = await create('/v1/tasks', { wedge: 'payments', task_type, input })
    await waitForStatus(console(), id, 'awaiting_approval')
    return id
  }
  const approvalOf = async (task: string) =>
    (await console().call('GET', `/v1/approvals?task_id=${task}`)).body.data[0].approval_id as string
  const uploadText = (name: string) =>
    callApi(console().url, members.owner, 'POST', `/v1/files?name=${name}`, { of: name })
  const statusOf = async (task: string) => (await console().call('GET', `/v1/tasks/${task}`)).body.status
  const open = (approval: string, options?: Parameters<ReturnType<typeof console>['open']>[1]) =>
    console().open(`/approvals?id=${approval}`, options)

  /** A message of a customer whose task waits for a decision about a refund. */
  const receive = async (channel: string, body: string) => {
    const from = { handle: 'grace@example.com', name: 'Grace' }
    const inbound = await create(`/v1/channels/${channel}/inbound`, { from, subject: 'Order A-1', body })
    await waitForStatus(console(), inbound.task_id, 'awaiting_approval')
    return inbound
  }
  const openChannel = async (address: string): Promise<string> => {
    const connections = (await console().call('GET', '/v1/connections')).body.data
    const connection_id = connections.find(({ name }: { name: string }) => name === 'post').id
    return (await create('/v1/channels', { connection_id, address, wedge: 'payments', task_type: 'refund' })).id
  }

  test('approval card: it shows the message, the conversation, the steps and earlier decisions with names', async () => {
    const channel = await openChannel('refunds@example.com')
    const first = await receive(channel, 'My teapot is broken.')
    const reason = 'No photo of the damage.'
    await callApi(console().url, members.owner, 'POST', `/v1/approvals/${await approvalOf(first.task_id)}/reject`, {
      reason,
    })
    const second = await receive(channel, 'Here is the photo.')
    const approval = await approvalOf(second.task_id)
    for (const width of WIDTHS) {
      const page = await open(approval, { viewport: { width, height: 900 } })
      const card = page.getByRole('article', { name: 'Approval' })
      await card.getByText('Grace wrote').waitFor()
      await card.getByLabel('Message of the customer').getByText('Here is the photo.').waitFor()
      const thread = card.getByRole('list', { name: 'Latest messages' })
      await thread.getByText('My teapot is broken.').waitFor()
      expect(await thread.getByRole('listitem').count()).toBe(2)
      await card.getByRole('list', { name: 'Steps so far' }).getByText('records_put').waitFor()
      await card.getByRole('list', { name: 'Steps so far' }).getByText('I look the order up.').waitFor()
      const earlier = card.getByRole('list', { name: 'Earlier decisions on this action' })
      await earlier.getByText(`“${reason}”`).waitFor()
      await earlier.getByText(/by olga@example.com/).waitFor()
      await card.getByText('No auto-approve rule covers post:refund.').waitFor()
      expect(await card.locator('dd').first().textContent()).toBe('$84.50')
      await card.getByRole('link', { name: 'Open conversation' }).waitFor()
      expect(await violationsInBothThemes(page)).toEqual([])
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
      await page.close()
    }
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('approval card: the case of the task is a link, and the decision names the member', async () => {
    const opened = await create('/v1/cases', { wedge: 'payments', title: 'Broken teapot' })
    const input = { amount_usd: 20, order_id: 'A-2' }
    const task = await create(`/v1/cases/${opened.id}/tasks`, { task_type: 'pay', input })
    await waitForStatus(console(), task.id, 'awaiting_approval')
    const approval = await approvalOf(task.id)
    await callApi(console().url, members.operator, 'POST', `/v1/approvals/${approval}/approve`)
    const page = await console().open(`/approvals?status=approved&id=${approval}`)
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByText('Approved by operator@example.com').waitFor()
    await card.getByText('Started by: API key "founder key"').waitFor()
    await card.getByRole('link', { name: 'Broken teapot' }).click()
    await page.waitForURL(`**/cases/${opened.id}`)
  })

  test('payload: a mail is shown as a mail, with the targets of its links and without its scripts', async () => {
    const approval = await approvalOf(await run('mail'))
    const page = await open(approval)
    const payload = page.getByRole('region', { name: 'Payload' })
    await payload.getByText('ada@example.com, kim@example.com').waitFor()
    await payload.getByText('Your invoice', { exact: true }).waitFor()
    await payload.getByText('your invoice (https://evil.example/pay).').waitFor()
    expect(await payload.textContent()).not.toContain('alert(1)')
    // A field that is no part of a mail is shown, too.
    await payload.getByText('Priority').waitFor()
    expect(await payload.locator('pre').count()).toBe(0)
    await payload.getByRole('button', { name: 'JSON' }).click()
    await payload.locator('pre').getByText('"priority"').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('edit form: it is made from the schema of the tool, and text that is no JSON stops the approval', async () => {
    const base_url = 'http://127.0.0.1:9'
    const config = { base_url, operations: [UPDATE_TICKET] }
    const { id } = await create('/v1/connections', { kind: 'custom', name: 'tickets', config })
    await console().call('POST', `/v1/connections/${id}/secret`, { value: 's' })
    const task = await run('ticket')
    const approval = await approvalOf(task)
    const page = await open(approval)
    await page.getByText('Steps so far').or(page.getByText('Comments (0)')).first().waitFor()
    await page.getByRole('button', { name: 'Edit e' }).click()
    const form = page.getByRole('form', { name: 'Edit' })
    await form.getByText('The new status.').waitFor()
    expect(await form.getByLabel('Status').getByRole('option').allTextContents()).toEqual(['', 'open', 'solved'])
    await form.getByLabel('Status').selectOption('solved')
    await form.getByText('1 more field').click()
    await form.getByLabel('Comment').fill('Done.')
    expect(await accessibilityViolations(page)).toEqual([])
    await form.getByLabel('Tags').fill('["vip", ')
    await page.getByRole('button', { name: /^Approve with 2 changes/ }).click()
    expect(await page.getByText(/press again to confirm/).count()).toBe(0)
    await form.getByLabel('Tags').fill('["vip", "solved"]')
    await page.getByRole('button', { name: /^Approve with 3 changes/ }).click()
    await approveWithoutHold(console(), task, () =>
      page.getByRole('button', { name: /press again to confirm/ }).click(),
    )
    await expect
      .poll(async () => (await console().call('GET', `/v1/approvals/${approval}`)).body)
      .toMatchObject({
        status: 'approved',
        edited: { status: 'solved', comment: 'Done.', tags: ['vip', 'solved'] },
      })
  })

  test('votes: two members approve the same payload, and each sees who has approved', async () => {
    const task = await run('transfer', { account: 'DE-1' })
    const approval = await approvalOf(task)
    const approve = async (token: string) => {
      const page = await open(approval, { token })
      await page.getByRole('button', { name: 'Approve a', exact: true }).click()
      await approveWithoutHold(console(), task, () =>
        page.getByRole('button', { name: /press again to confirm/ }).click(),
      )
      return page
    }
    const first = await approve(members.operator)
    // The vote of high risk is held first.
    await first.getByText('1 of 2 approved: operator@example.com').waitFor()
    await first.getByText('You approved this payload.').waitFor()
    expect(await first.getByRole('button', { name: 'Approve a', exact: true }).count()).toBe(0)
    expect(await accessibilityViolations(first)).toEqual([])
    expect(await statusOf(task)).toBe('awaiting_approval')
    await approve(members.admin)
    await waitForStatus(console(), task, 'succeeded')
    const page = await console().open(`/approvals?status=approved&id=${approval}`)
    await page.getByText('Approved by operator@example.com, admin@example.com').waitFor()
  })

  test('votes: the card says who can still approve, what the first approver changed, and names a file', async () => {
    const { id: contract } = (await uploadText('contract.txt')).body
    const task = await run('transfer', { account: 'DE-9', contract: { $file: contract } })
    const approval = await approvalOf(task)
    const edit = { edited: { amount_usd: 450 } }
    await callApi(console().url, members.admin, 'POST', `/v1/approvals/${approval}/approve`, edit)
    const page = await open(approval, { token: members.operator })
    await page.getByText('1 of 2 approved: admin@example.com').waitFor()
    await page.getByText('Waiting for 1 of: olga@example.com, operator@example.com').waitFor()
    await page.getByText('Changed by admin@example.com:').waitFor()
    const changes = page.getByRole('list', { name: 'Changes' })
    expect(await changes.textContent()).toBe('amount_usd500450')
    const payload = page.getByRole('region', { name: 'Payload', exact: true })
    await payload.getByText('contract.txt', { exact: true }).waitFor()
    expect(await payload.getByText('sha256').count()).toBe(0)
    // Who has approved and who may not decide cannot be asked.
    const assignees = await page.getByLabel('Assignee').getByRole('option').allTextContents()
    expect(assignees).toEqual(['No assignee', 'olga@example.com', 'operator@example.com'])
    expect(await accessibilityViolations(page)).toEqual([])
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })

  test('approvers: the member who started the task reads why another person decides, and has no buttons', async () => {
    const started = { wedge: 'payments', task_type: 'own', input: { account: 'DE-3' } }
    const { body } = await callApi(console().url, members.operator, 'POST', '/v1/tasks', started)
    await waitForStatus(console(), body.id, 'awaiting_approval')
    const approval = await approvalOf(body.id)
    const page = await open(approval, { token: members.operator })
    await page.getByText('You started this task, so another person decides.').waitFor()
    const card = page.getByRole('article', { name: 'Approval' })
    expect(await card.getByRole('button', { name: /^(Approve|Edit|Revise|Reject)/ }).count()).toBe(0)
    await page.keyboard.press('a')
    await page.keyboard.press('x')
    expect(await page.getByText(/press again to confirm|selected/).count()).toBe(0)
    expect(await page.getByRole('checkbox', { name: /Own through post/ }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    const other = await open(approval, { token: members.admin })
    await other.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    await other.getByRole('checkbox', { name: /Own through post/ }).waitFor()
    await callApi(console().url, members.owner, 'POST', `/v1/approvals/${approval}/reject`)
  })

  test('approvers: a member who may not decide sees who may, and no buttons', async () => {
    const approval = await approvalOf(await run('grant', { account: 'DE-2' }))
    const page = await open(approval, { token: members.operator })
    await page.getByText('Your role is operator. Only these may decide: owner.').waitFor()
    const card = page.getByRole('article', { name: 'Approval' })
    expect(await card.getByRole('button', { name: /^(Approve|Revise|Reject)/ }).count()).toBe(0)
    const owners = await open(approval, { token: members.owner })
    await owners.getByRole('button', { name: 'Approve a', exact: true }).waitFor()
    await callApi(console().url, members.owner, 'POST', `/v1/approvals/${approval}/reject`)
  })

  test('assignee and comments: a member assigns and comments, and another sees both at once', async () => {
    const approval = await approvalOf(await run('mail'))
    const page = await open(approval, { token: members.operator })
    const other = await open(approval, { token: members.viewer })
    await page.getByLabel('Assignee').selectOption('admin@example.com')
    await other.getByText('Assignee: admin@example.com').waitFor()
    await page.getByText('Comments (0)').click()
    await page.getByLabel('Comment', { exact: true }).fill('The amount looks wrong.')
    await page.getByRole('button', { name: 'Add comment' }).click()
    const comments = other.getByRole('list', { name: 'Comments' })
    await comments.getByText('The amount looks wrong.').waitFor()
    await comments.getByText('operator@example.com').waitFor()
    expect(await other.getByRole('button', { name: 'Add comment' }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await accessibilityViolations(other)).toEqual([])
    const admins = await console().open('/approvals?assignee=me', { token: members.admin })
    await admins.getByRole('heading', { name: /Mail through post/ }).waitFor()
    expect(await admins.getByLabel('Assigned to me').isChecked()).toBe(true)
    await page.getByLabel('Assignee').selectOption('No assignee')
    await expect.poll(async () => (await console().call('GET', `/v1/approvals/${approval}`)).body.assignee).toBe(null)
    await console().call('POST', `/v1/approvals/${approval}/reject`)
  })
})
