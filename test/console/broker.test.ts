import { describe, expect, test } from 'vitest'
import { openFakeBroker } from '../broker/fake-broker.ts'
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

    await page.getByRole('button', { name: 'Connect app' }).click()
    const slack = page.getByRole('button', { name: 'Connect Slack' })
    await slack.waitFor()
    await page.getByLabel('Search').fill('gm')
    await slack.waitFor({ state: 'hidden' })
    expect(await accessibilityViolations(page)).toEqual([])

    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Connect Gmail' }).click(),
    ])
    await opened.waitForURL('https://auth.test/ca_1')
    expect(await opened.evaluate('window.opener')).toBeNull()

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
