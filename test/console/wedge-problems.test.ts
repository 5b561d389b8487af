import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

const LEADS = '{\n  "wedge": "leads",\n  "title": "Leads",\n  "task_types" { "answer": {} }\n}'

describe('wedges that cannot be used', () => {
  const console = consoleFixture()
  const breakWedge = async () => {
    writeFiles(console().wedgesDir, { 'leads/wedge.json': LEADS })
    onTestFinished(() => rmSync(join(console().wedgesDir, 'leads'), { recursive: true }))
    await expect.poll(async () => (await console().call('GET', '/v1/meta')).body.problems.length).toBe(1)
  }

  test('broken wedge: the list and its own page show file, line and message, and offer no run', async () => {
    await breakWedge()
    const page = await console().open('/wedges', { expected: /status of 404/ })
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'leads' }) })
    await card.getByText('wedge.json:4').waitFor()
    await card.getByText(/expected ':' after "task_types"/).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await card.getByRole('link', { name: 'leads' }).click()
    await page.getByText('This wedge cannot be used').waitFor()
    await page.getByText(/expected ':' after "task_types"/).waitFor()
    expect(await page.getByRole('main').getByRole('link', { name: 'Run' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Knowledge' }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    writeFiles(console().wedgesDir, { 'leads/wedge.json': LEADS.replace('" {', '": {') })
    await expect.poll(async () => (await console().call('GET', '/v1/wedges/leads')).status).toBe(200)
    await page.reload()
    await page.getByRole('heading', { name: 'Leads' }).waitFor()
  })

  test('wedge page: a wedge that does not exist has no tabs and no run', async () => {
    const page = await console().open('/wedges/gone', { expected: /status of 404/ })
    await page.getByText('No such wedge').waitFor()
    expect(await page.getByRole('main').getByRole('link', { name: 'Run' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Knowledge' }).count()).toBe(0)
  })

  test('run page: a wedge or task type that does not exist is not replaced by another', async () => {
    await breakWedge()
    const page = await console().open('/run?wedge=leads&task_type=answer')
    await page.getByText("Wedge 'leads' cannot be used").waitFor()
    await page.getByText(/expected ':' after "task_types"/).waitFor()
    expect(await page.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.goto(`${console().url}/run?wedge=gone`)
    await page.getByText("No wedge 'gone'").waitFor()
    expect(await page.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0)
    await page.getByLabel('Wedge').selectOption('letters')
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    await page.goto(`${console().url}/run?wedge=letters&task_type=gone`)
    await page.getByText("No task type 'gone'").waitFor()
    expect(await page.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0)
    await page.getByLabel('Task type').selectOption('write')
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  })

  test('run form: it starts with the example of the wedge, and the last input is offered by a button', async () => {
    const input = { order_id: 'C-77', amount_usd: 12, reason: 'late', customer_email: 'customer@example.com' }
    await console().call('POST', '/v1/tasks', { wedge: 'refund-desk', task_type: 'handle_request', input })
    const page = await console().open('/run?wedge=refund-desk&task_type=handle_request')
    const order = page.getByLabel('Order id')
    await order.waitFor()
    expect(await order.inputValue()).toBe('A-1042')
    await page.getByRole('button', { name: 'Use the input of the last run' }).click()
    expect(await order.inputValue()).toBe('C-77')
    expect(await accessibilityViolations(page)).toEqual([])

    await console().call('POST', '/v1/tasks', {
      wedge: 'letters',
      task_type: 'write',
      input: { to: 'Grace', subject: 'x' },
    })
    await page.goto(`${console().url}/run?wedge=letters&task_type=write`)
    await page.getByLabel('To').waitFor()
    expect(await page.getByLabel('To').inputValue()).toBe('')
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.getByRole('button', { name: 'Use the input of the last run' }).click()
    expect(await page.getByRole('textbox', { name: 'Input' }).inputValue()).toContain('Grace')
  })
})
