import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

const once = (page: Page) => page.locator('[data-once]')

describe('secrets that are shown once', () => {
  const console = consoleFixture()
  const createKey = async (page: Page) => {
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('nightly')
    await page.getByRole('button', { name: 'Create key' }).click()
    await once(page).waitFor()
  }

  test('one-time secret: Escape and a click beside the dialog do not close it before it is copied', async () => {
    const page = await console().open('/settings', { permissions: ['clipboard-read', 'clipboard-write'] })
    await createKey(page)
    // Browsers close a dialog at the second Escape even if the page refused the first.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await page.keyboard.press('Escape')
    await page.getByRole('alert').getByText('Copy it first, or select Done to close without a copy.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    const secret = await once(page).textContent()
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
    await page.keyboard.press('Escape')
    await once(page).waitFor({ state: 'detached' })

    await createKey(page)
    await page.getByRole('button', { name: 'Done' }).click()
    await once(page).waitFor({ state: 'detached' })
  })

  test('one-time secret: it can be copied where the browser has no clipboard API', async () => {
    const page = await console().newPage({ permissions: ['clipboard-read', 'clipboard-write'] })
    // As on a page that is served over plain HTTP.
    await page.addInitScript(`
      const { clipboard } = navigator
      window.readClipboard = () => clipboard.readText()
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
    `)
    await page.goto(`${console().url}/settings`)
    await createKey(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('window.readClipboard()')).toBe(await once(page).textContent())
  })

  test('secret form: without an encryption key it warns, with the command that creates one', async () => {
    await console().call('POST', '/v1/connections', { kind: 'email', name: 'mailbox', config: {} })
    // The service is unreachable while it restarts with a key.
    const page = await console().open('/connections', { expected: /net::ERR_/ })
    await page.getByRole('button', { name: 'Set secret' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/lost when the service restarts/).waitFor()
    await dialog.getByText('./svc init').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.goto(`${console().url}/blueprints`)
    await page.getByRole('button', { name: /Invoice chaser/ }).click()
    await page.getByRole('button', { name: 'Set up', exact: true }).click()
    await page.getByRole('button', { name: 'Set secret for mail' }).click()
    await page.getByRole('dialog').getByText('./svc init').waitFor()
    await console().restart({ SVC_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') })
    await page.goto(`${console().url}/connections`)
    await page.getByRole('button', { name: 'Set secret' }).first().click()
    await page.locator('dialog input[type="password"]').waitFor()
    expect(await page.getByText('./svc init').count()).toBe(0)
  })

  test('home: after a restart without the encryption key, one item names the connections that lost their secret', async () => {
    for (const name of ['crm', 'erp']) {
      const config = { api_url: 'http://127.0.0.1:9/' }
      const { id } = (await console().call('POST', '/v1/connections', { kind: 'custom', name, config })).body
      await console().call('POST', `/v1/connections/${id}/secret`, { value: 'hush' })
    }
    await console().restart({})
    const page = await console().open('/')
    await page.getByRole('link', { name: /2 connections lost their secret crm, erp/ }).click()
    const cards = page.getByRole('list', { name: 'Connections' }).getByRole('listitem')
    await cards.filter({ hasText: 'crm' }).getByText('Needs secret').waitFor()
  })
})
