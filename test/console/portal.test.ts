import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

describe('the portal', () => {
  const console = consoleFixture()

  test('exchanges a link by a click, once, and keeps its token out of the address', async () => {
    const { body: client } = await console().call('POST', '/v1/clients', { display_name: 'Grace' })
    const { body: link } = await console().call('POST', `/v1/clients/${client.id}/portal-link`)
    const path = `/portal#${link.token}`
    const page = await console().open(path, { signedIn: false, viewport: { width: 360, height: 700 } })
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'You are signed in as Grace' }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'You are signed in as Grace' }).waitFor()

    const other = await console().open(path, { signedIn: false })
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByText('This link was used already or is too old.').waitFor()
  })

  test('says what to do without a link', async () => {
    const page = await console().open('/portal', { signedIn: false })
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })
})
