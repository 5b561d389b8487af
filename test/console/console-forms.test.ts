import { describe, expect, test } from 'vitest'
import type { Db } from '../../src/platform/store/store.ts'
import { openFakeBroker } from '../connections/broker/fake-broker.ts'
import { accessibilityViolations, consoleFixture, waitForStatus } from './console-browser.ts'

describe('forms and dialogs', () => {
  const console = consoleFixture()

  test('channels: an email connection is preselected, and no other kind', async () => {
    const { body: mail } = await console().call('POST', '/v1/connections', {
      kind: 'email',
      name: 'mailbox',
      config: {},
    })
    await console().call('POST', '/v1/connections', { kind: 'custom', name: 'payments', config: {} })
    const page = await console().open('/channels')
    await page.getByRole('button', { name: 'New channel' }).first().click()
    const select = page.getByLabel('Reply connection')
    await expect.poll(() => select.inputValue()).toBe(mail.id)
    await console().call('DELETE', `/v1/connections/${mail.id}`)
    await page.reload()
    await page.getByRole('button', { name: 'New channel' }).first().click()
    await select.locator('option', { hasText: 'payments' }).waitFor({ state: 'attached' })
    expect(await select.inputValue()).toBe('')
    await page.getByLabel('Address').fill('help@example.com')
    expect(await page.getByRole('button', { name: 'Create channel' }).isDisabled()).toBe(true)
  })

  test('connections: a saved one is not reported as an error, and its warning is shown', async () => {
    const config = { api_url: 'http://127.0.0.1:9/act' }
    const { body } = await console().call('POST', '/v1/connections', { kind: 'custom', name: 'plain', config })
    const page = await console().open(`/connections/${body.id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    const saved = page.getByText('plain saved', { exact: true })
    await saved.waitFor()
    const warning = page.getByText(/^Warning: .*https/)
    await warning.waitFor()
    for (const toast of [saved, warning])
      expect(await toast.locator('..').getAttribute('class')).not.toContain('text-bad')
  })

  test('delete: a dialog of the console asks, and Cancel keeps the item', async () => {
    const { body } = await console().call('POST', '/v1/connections', {
      kind: 'webhook',
      name: 'unused',
      config: { url: 'http://127.0.0.1:9/' },
    })
    const page = await console().open(`/connections/${body.id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Delete the connection unused and its secret?' })
    await dialog.waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL('**/connections')
    await page.getByRole('heading', { name: 'post' }).waitFor()
    expect(await page.getByRole('heading', { name: 'unused' }).count()).toBe(0)
  })

  test('connections: apps are offered only if a broker is configured', async () => {
    // The service is unreachable while it restarts with a broker.
    const page = await console().open('/connections', { expected: /net::ERR_/ })
    await page.getByRole('button', { name: 'New connection' }).click()
    await page.getByRole('button', { name: /^MCP server/ }).waitFor()
    expect(await page.getByRole('heading', { name: 'Connect an app' }).count()).toBe(0)
    const broker = await openFakeBroker()
    await console().restart({ BROKER_API_KEY: 'broker-k3y', BROKER_BASE_URL: broker.url })
    await page.reload()
    await page.getByRole('button', { name: 'New connection' }).click()
    await page.getByRole('heading', { name: 'Connect an app' }).waitFor()
  })

  test('home on a phone: the list of what needs you scrolls and leads to each item', async () => {
    for (const subject of ['1', '2', '3', '4', '5', '6']) {
      const input = { to: 'Ada', subject }
      const { body } = await console().call('POST', '/v1/tasks', { wedge: 'letters', task_type: 'write', input })
      await waitForStatus(console(), body.id, 'awaiting_approval')
    }
    const page = await console().open('/', { viewport: { width: 390, height: 844 } })
    await page.getByRole('heading', { name: '6 approvals wait' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    const items = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem')
    expect(await items.count()).toBe(6)
    await addPendingApprovals(console().app.ctx.db, 54)
    const wide = await console().open('/')
    await wide.getByRole('heading', { name: /^60 approvals wait · oldest / }).waitFor()
    await wide.getByRole('button', { name: 'Show 50 of 60' }).waitFor()
    await expect.poll(() => wide.getByRole('link', { name: 'Approvals 60' }).count()).toBe(1)
    await items.last().getByRole('link').click()
    await page.waitForURL('**/approvals?id=*')
  })
})

/** Copies of a pending approval. */
async function addPendingApprovals(db: Db, count: number): Promise<void> {
  const pending = db.selectFrom('approvals').selectAll().where('status', '=', 'pending').orderBy('id', 'desc')
  const row = await pending.executeTakeFirstOrThrow()
  const copies = Array.from({ length: count }, (_, n) => ({
    ...row,
    // Digits alone could be the random end of an id that exists.
    id: `${row.id.slice(0, -6)}zzzz${String(n).padStart(2, '0')}`,
  }))
  await db.insertInto('approvals').values(copies).execute()
}
