import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { callApi } from '../http.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL, waitForStatus } from './console-browser.ts'
import { PAYMENTS } from './payments-wedge.ts'
import { createMembers } from './sample-data.ts'

describe('rule suggestions', () => {
  const console = consoleFixture()
  let members: Awaited<ReturnType<typeof createMembers>>
  beforeAll(async () => {
    await console().restart({}, async () => writeFiles(console().wedgesDir, PAYMENTS))
    members = await createMembers(console())
  })

  const pay = async (
    amount_usd: number,
    status: 'awaiting_approval' | 'succeeded' = 'awaiting_approval',
  ): Promise<string> => {
    const task = { wedge: 'payments', task_type: 'pay', input: { amount_usd, order_id: 'A-1' } }
    const { id } = (await console().call('POST', '/v1/tasks', task)).body
    await waitForStatus(console(), id, status)
    return (await console().call('GET', `/v1/approvals?task_id=${id}`)).body.data[0].approval_id
  }
  const decide = async (amount: number, decision: string) =>
    callApi(console().url, members.operator, 'POST', `/v1/approvals/${await pay(amount)}/${decision}`, {})

  test('a suggestion says what it would have approved, an admin saves it, and the policy page shows and resets it', async () => {
    for (const amount of [10, 11, 12, 13, 14.5, 180]) await decide(amount, 'approve')
    await decide(500, 'reject')
    const waiting = await pay(12)

    const operator = await console().open(`/approvals?id=${waiting}`, { token: members.operator })
    const hint = operator.getByRole('article', { name: 'Suggested rules' })
    await hint.getByText('Your team approved 6 requests for post:refund unchanged.').waitFor()
    await hint.getByText('It covers 5 of 6, not the $180.00 one.').waitFor()
    await hint.getByText('Ask an admin to save this rule.').waitFor()
    expect(await hint.getByRole('button', { name: 'Save as rule' }).count()).toBe(0)

    for (const width of [390, 1440]) {
      const narrow = await console().open(`/approvals?id=${waiting}`, { viewport: { width, height: 900 } })
      await narrow.getByRole('button', { name: 'Save as rule' }).waitFor()
      expect(await narrow.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
      expect(await accessibilityViolations(narrow)).toEqual([])
      await narrow.close()
    }
    const page = await console().open(`/approvals?id=${waiting}`, { token: members.admin })
    const card = page.getByRole('article', { name: 'Suggested rules' })
    await card.getByText('post:refund up to $14.50, at most 1 in a task and 5 on a day').waitFor()
    await card.getByText('It would have approved 5 requests, $60.50 in total').waitFor()
    await card.getByText('none of the 1 request that people rejected').waitFor()
    await card.getByRole('button', { name: 'Save as rule' }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog
      .getByText('From now on these requests are sent without asking a person: post:refund up to $14.50')
      .waitFor()
    await dialog.getByLabel('Max amount (USD)').fill('14')
    await dialog.getByText('post:refund up to $14.00').waitFor()
    await dialog.getByRole('button', { name: 'Save as rule' }).click()
    await page.getByText('Saved. Applies from the next request on.').waitFor()
    await pay(14, 'succeeded')
    await pay(14.01)

    await page.goto(`${console().url}/wedges/payments?view=policy`)
    await page.getByText('Version 1, saved for this project by admin@example.com').waitFor()
    expect(await page.getByLabel('Max amount (USD) of rule 1').inputValue()).toBe('14')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByLabel('Max amount (USD) of rule 1').fill('20')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Version 2, saved for this project').waitFor()
    await pay(20, 'succeeded')
    await page.getByRole('button', { name: "Reset to the wedge's rules" }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: "Reset to the wedge's rules" }).click()
    await page.getByText('Rules come from wedge.json.').waitFor()
    // The history suggests the rule again.
    await page.getByRole('article', { name: 'Suggested rules' }).waitFor()
    await pay(5)
  })
})
