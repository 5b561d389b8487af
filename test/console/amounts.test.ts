import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture, waitForStatus } from './console-browser.ts'

const REFUND = {
  name: 'create_refund',
  description: 'Create a refund.',
  method: 'POST',
  path: '/refunds',
  amount: { path: 'amount', unit: 'minor', currency: 'USD' },
}

describe('amounts of money', () => {
  const console = consoleFixture()

  async function connect(name: string, config: object): Promise<void> {
    const { body } = await console().call('POST', '/v1/connections', { kind: 'custom', name, config })
    await console().call('POST', `/v1/connections/${body.id}/secret`, { value: 's' })
  }

  test('approvals page: an amount in cents is shown in dollars, also while it is edited and afterwards', async () => {
    const base_url = 'http://127.0.0.1:9'
    await connect('stripe', { base_url, operations: [REFUND] })
    await connect('mail', { api_url: base_url })
    const input = {
      order_id: 'M-1',
      payment_intent: 'pi_1',
      amount_usd: 84.5,
      reason: 'broken',
      customer_email: 'a@b.c',
    }
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'refund-desk', task_type: 'pay_out', input })
    await waitForStatus(console(), body.id, 'awaiting_approval')
    const page = await console().open('/approvals')
    await page.getByRole('heading', { name: 'stripe: create a refund of $84.50' }).waitFor()
    const card = page.getByRole('article')
    const values = (await card.locator('dd').allTextContents()).map((text) => text.trim())
    expect(values).toContain('$84.50')
    expect(values).not.toContain('8450')
    await card.getByRole('button', { name: 'Edit' }).click()
    await card.getByLabel('Amount', { exact: true }).fill('1999')
    await card.getByText('$19.99').first().waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await card.getByRole('button', { name: /Approve/ }).click()
    await card.getByRole('button', { name: /confirm/ }).click()
    await page.getByText('stripe: create a refund of $19.99').first().waitFor()
  })

  test('policy page: a simulation shows the amounts of past requests', async () => {
    const page = await console().open('/wedges/refund-desk?view=policy')
    await page.getByRole('button', { name: 'Simulate' }).click()
    await page.getByText('stripe: create a refund of $84.50').waitFor()
    await page.getByText('Auto-approval limit is $50; this is $84.50.').waitFor()
  })
})
