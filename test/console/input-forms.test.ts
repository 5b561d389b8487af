import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

const ORDERS = {
  'orders/wedge.json': {
    wedge: 'orders',
    title: 'Orders',
    task_types: {
      check: {
        input_schema: {
          type: 'object',
          required: ['order'],
          properties: {
            order: { type: 'string', description: 'The number of the order.' },
            limit: { type: 'number', enum: [5, 7] },
            urgent: { type: 'boolean' },
            customer: { type: 'object' },
          },
        },
        example: { order: 'A-1', limit: 5, customer: { ok: true } },
      },
      answer: {
        input_schema: {
          type: 'object',
          required: ['body'],
          properties: { body: { type: 'string', description: 'What the customer wrote.' } },
        },
        example: { from: { handle: 'kim@example.com' }, subject: 'Order A-1', body: 'Where is it?' },
      },
      translate: { input_schema: { type: 'object', required: ['body', 'language'], properties: { language: {} } } },
      count: {},
    },
  },
  'orders/rehearsals/check.json': [{ output: {} }],
  'orders/rehearsals/answer.json': [{ output: {} }],
  'orders/rehearsals/count.json': [{ output: {} }],
}

describe('forms from the input schema of a task type', () => {
  const console = consoleFixture()
  beforeAll(async () => {
    writeFiles(console().wedgesDir, ORDERS)
    // A page that loads before the service has read the folder would not have the wedge.
    expect((await console().call('GET', '/v1/wedges/orders')).status).toBe(200)
  })

  test('schedules: the fields start with the example, and the input is checked when it is saved', async () => {
    const page = await console().open('/schedules', { expected: /400/ })
    await page.getByRole('button', { name: 'New schedule' }).first().click()
    await page.getByLabel('Name').fill('orders')
    await page.getByLabel('Wedge').selectOption('orders')
    await page.getByLabel('Task type').selectOption('check')
    const order = page.getByLabel('Order', { exact: true })
    await expect.poll(() => order.inputValue()).toBe('A-1')
    await page.getByText('The number of the order.').waitFor()
    await order.fill('A-2')
    expect(await page.getByLabel('Customer').inputValue()).toBe('{\n  "ok": true\n}')
    await page.getByLabel('Limit').selectOption('7')
    await page.getByLabel('Urgent').check()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.getByLabel('Input (JSON)').fill('{"order":"A-2","limit":101}')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByText('input.limit must be one of').waitFor()
    await page.getByLabel('Input (JSON)').fill('{"order":"A-3"')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    expect((await console().call('GET', '/v1/schedules')).body.data).toEqual([])
    await page.getByLabel('Input (JSON)').fill('{"order":"A-3","limit":7}')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByRole('button', { name: 'Edit orders' }).click()
    await expect.poll(() => order.inputValue()).toBe('A-3')
    await order.fill('A-4')
    await page.getByRole('button', { name: 'Save' }).click()
    const savedInput = async () => (await console().call('GET', '/v1/schedules')).body.data[0].input
    await expect.poll(savedInput).toEqual({ order: 'A-4', limit: 7 })
  })

  test('schedules: a task type without a schema keeps the typed JSON', async () => {
    const page = await console().open('/schedules')
    await page.getByRole('button', { name: 'New schedule' }).first().click()
    await page.getByLabel('Wedge').selectOption('orders')
    await page.getByLabel('Task type').selectOption('count')
    await page.getByLabel('Input (JSON)').fill('{"a":1}')
    await page.getByLabel('Wedge').selectOption('letters')
    await expect.poll(() => page.getByLabel('Input (JSON)').inputValue()).toBe('{\n  "a": 1\n}')
    await page.getByLabel('Wedge').selectOption('orders')
    await expect.poll(() => page.getByLabel('Order', { exact: true }).inputValue()).toBe('A-1')
  })

  test('channels: the form names fields that a message does not have, and a test message starts with the example', async () => {
    const page = await console().open('/channels')
    await page.getByRole('button', { name: 'New channel' }).first().click()
    await page.getByLabel('Address').fill('orders@example.com')
    await page.getByLabel('Wedge').selectOption('orders')
    await page.getByLabel('Task type').selectOption('count')
    await page.getByLabel('Reply connection').selectOption({ label: 'post' })
    expect(await page.getByText('This task type also requires').count()).toBe(0)
    await page.getByLabel('Task type').selectOption('translate')
    await page.getByText('This task type also requires: language.').waitFor()
    await page.getByLabel('Task type').selectOption('answer')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Send test orders@example.com' }).click()
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('Where is it?')
    await page.getByText('What the customer wrote.').waitFor()
    expect(await page.getByLabel('From').inputValue()).toBe('kim@example.com')
    await page.getByLabel('Subject').fill('Order A-9')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.waitForURL('**/conversations/*')
    const { body } = await console().call('GET', '/v1/tasks?wedge=orders')
    expect(body.data[0].input).toMatchObject({
      from: { handle: 'kim@example.com' },
      subject: 'Order A-9',
      body: 'Where is it?',
    })
  })
})
