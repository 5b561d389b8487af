import { describe, expect, test } from 'vitest'
import { barriers, sharedConsole } from './browser.ts'

const REFUND = { order_id: 'A-1', amount_usd: 84.5, reason: 'arrived damaged', customer_email: 'ada@example.com' }

describe('the pages of the console', () => {
  const console = sharedConsole()

  test('registers a connection, seals its secret and tries it', async () => {
    const page = await console().open('/connections')
    await page.getByRole('button', { name: 'New connection' }).click()
    await page.getByLabel('Kind').selectOption('custom')
    await page.getByLabel('Name').fill('crm')
    const { body } = await console().call('GET', '/v1/connections')
    const { url } = body.data.find(({ name }: { name: string }) => name === 'post').config
    await page.getByLabel('Address to act by').fill(url)
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByLabel('Secret', { exact: true }).fill('hush-hush')
    await page.getByRole('button', { name: 'Seal it' }).click()
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'crm' }) })
    await card.getByText('Connected').waitFor()
    await card.getByRole('button', { name: 'Test' }).click()
    await page.getByText(/^crm works/).waitFor()
    expect(await page.content()).not.toContain('hush-hush')
    expect(await barriers(page)).toEqual([])
  })

  test('teaches a wedge, answers its questions and tries other rules on the past', async () => {
    await console().call('POST', '/v1/tasks', { wedge: 'refund-desk', task_type: 'handle_request', input: REFUND })
    await expect
      .poll(async () => (await console().call('GET', '/v1/approvals')).body.data.length, { timeout: 30_000 })
      .toBe(1)
    const page = await console().open('/wedges')
    await page.getByRole('link', { name: 'Refund desk' }).click()
    await page.getByRole('heading', { name: 'Skills' }).waitFor()
    expect(await barriers(page)).toEqual([])

    await page.getByRole('button', { name: 'Knowledge' }).click()
    await page.getByRole('button', { name: 'Add knowledge' }).click()
    await page.getByLabel('Name').fill('holidays')
    await page.getByLabel('Text').fill('# Holidays\n\nWe are **closed** in August.')
    await page.getByRole('region', { name: 'Preview' }).getByText('closed', { exact: true }).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('list', { name: 'Live knowledge' }).getByText('holidays').waitFor()

    await page.getByRole('button', { name: /^Intake/ }).click()
    await page.getByText('0 % known').waitFor()
    await page.getByLabel(/How many days after delivery/).fill('Fourteen.')
    await page.getByRole('button', { name: 'Answer' }).first().click()
    await page.getByText('25 % known').waitFor()
    expect(await barriers(page)).toEqual([])

    await page.getByRole('button', { name: 'Policy' }).click()
    await page.getByLabel('Up to (USD) of rule 1').fill('100')
    await page.getByRole('button', { name: 'Simulate' }).click()
    await page.getByText('Of 1 past requests, 1 would pass and 0 would wait for a person').waitFor()
    expect(await barriers(page)).toEqual([])
  })
})
