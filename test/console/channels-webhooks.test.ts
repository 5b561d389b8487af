import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

describe('channels and webhooks pages', () => {
  const console = consoleFixture()
  const upstreamUrl = async () => {
    const { body } = await console().call('GET', '/v1/connections')
    return body.data.find(({ name }: { name: string }) => name === 'post').config.url as string
  }

  test('channels: a new channel shows its example request and takes a test message', async () => {
    const page = await console().open('/channels')
    await page.getByText('No channels yet').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'New channel' }).first().click()
    await page.getByLabel('Address').fill('help@example.com')
    await page.getByLabel('Wedge').selectOption('inbox-triage')
    await page.getByLabel('Task type').selectOption('acknowledge')
    await page.getByLabel('Reply connection').selectOption({ label: 'post' })
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Create channel' }).click()
    await page
      .getByRole('region', { name: 'Example request' })
      .getByText(/\/v1\/channels\/chan_.*\/inbound/)
      .waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('button', { name: 'Send test help@example.com' }).click()
    await page.getByLabel('From').fill('grace@example.com')
    await page.getByLabel('Subject').fill('Locked out')
    await page.getByLabel('Message', { exact: true }).fill('I cannot log in.')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.waitForURL('**/conversations/*')
    await page.getByRole('log').getByText('I cannot log in.').waitFor()

    await page.goto(`${console().url}/channels`)
    await page.getByRole('button', { name: 'Delete help@example.com' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No channels yet').waitFor()
  })

  test('webhooks: the secret is shown once, and a delivery is listed and can be retried', async () => {
    const page = await console().open('/webhooks')
    await page.getByText('No webhooks yet').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'New webhook' }).first().click()
    await page.getByLabel('URL').fill(await upstreamUrl())
    await page.getByLabel('Approval requested').uncheck()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const secret = await page.locator('[data-once]').textContent()
    expect(secret).toMatch(/^whsec_/)
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain(secret)

    await console().call('POST', '/v1/tasks', { wedge: 'refund-desk', task_type: 'review_ledger', input: {} })
    const deliveries = page.getByRole('region', { name: 'Deliveries' })
    await deliveries.getByText('Delivered', { exact: true }).waitFor()
    const all = () => console().received.map(({ body }) => JSON.parse(body))
    const finishedEvents = () => all().filter(({ type }) => type === 'task.finished')
    expect(finishedEvents()).toHaveLength(1)
    expect(await accessibilityViolations(page)).toEqual([])
    await deliveries.getByRole('button', { name: /^Retry/ }).click()
    await expect.poll(() => finishedEvents().length, { timeout: 30_000 }).toBe(2)
    expect(finishedEvents()[1].id).toBe(finishedEvents()[0].id)

    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate secret' }).click()
    expect(await page.locator('[data-once]').textContent()).not.toBe(secret)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText(/^The old secret stays valid until/).waitFor()
    await page.getByLabel('Enabled', { exact: true }).click()
    await page.getByRole('list', { name: 'Webhooks' }).getByText('Off', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No webhooks yet').waitFor()
  })
})
