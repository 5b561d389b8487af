import { describe, expect, test } from 'vitest'
import { openFakeBroker } from '../connections/broker/fake-broker.ts'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

describe('connect an app through the broker', () => {
  const console = consoleFixture()

  test("broker: an app is found by name, authorised on the provider's page, and then works", async () => {
    const server = await openFakeBroker()
    await console().restart({ BROKER_API_KEY: 'broker-k3y', BROKER_BASE_URL: server.url })
    const page = await console().open('/connections')
    await page
      .context()
      .route('https://auth.test/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<title>Gmail</title><p>May they read your mail?</p>' }),
      )

    await page.getByRole('button', { name: 'New connection' }).click()
    const apps = page.getByRole('region', { name: 'Connect an app' })
    const slack = apps.getByRole('button', { name: /^Slack/ })
    await slack.waitFor()
    await page.getByLabel('Search services').fill('gm')
    await slack.waitFor({ state: 'hidden' })
    expect(await accessibilityViolations(page)).toEqual([])

    await apps.getByRole('button', { name: /^Gmail/ }).click()
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Continue to the provider' }).click(),
    ])
    await opened.waitForURL('https://auth.test/ca_1')
    expect(await opened.evaluate('window.opener')).toBeNull()

    await page.getByText('Allow access in the new tab, then test the connection.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'gmail' }) })
    await card.getByText('Needs authorisation').waitFor()
    server.authorise('ca_1')
    await card.getByRole('button', { name: 'Test' }).click()
    await page.getByText(/^gmail works/).waitFor()
    await card.getByText('Connected', { exact: true }).waitFor()
    expect(await page.content()).not.toContain('broker-k3y')
    expect(await accessibilityViolations(page)).toEqual([])
  })
})
