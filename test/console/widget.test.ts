import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  accessibilityViolations,
  consoleFixture,
  HAS_HORIZONTAL_SCROLL,
  violationsInBothThemes,
} from './console-browser.ts'
import { openWidgetPage } from './widget-page.ts'

const SIZES = [
  [390, 760],
  [1440, 900],
] as const

describe('widget', () => {
  const console = consoleFixture()

  test('widget: the script has less than 30 KB when it is compressed', async () => {
    const response = await fetch(`${console().url}/widget.js`, { headers: { 'accept-encoding': 'identity' } })
    expect(response.headers.get('content-type')).toContain('text/javascript')
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    const script = Buffer.from(await response.arrayBuffer())
    expect(script.length).toBeGreaterThan(1_000)
    expect(gzipSync(script).length).toBeLessThan(30 * 1024)
  })

  test.each(SIZES)(
    'widget: at %i × %i px a visitor writes with the keyboard and reads the answer, in both themes',
    async (width, height) => {
      await console().call('PUT', '/v1/brand', { name: 'Acme', color: '#e8b500', welcome: 'Ask us anything.' })
      const shop = await openWidgetPage(console())
      const page = await console().newPage({ signedIn: false, viewport: { width, height } })
      await page.goto(shop.url)
      await page.getByRole('button', { name: 'Open the chat' }).waitFor()
      expect(await violationsInBothThemes(page)).toEqual([])
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Acme' }).waitFor()
      await page.getByText('Ask us anything.').waitFor()
      await page.keyboard.type('Where is order 7?')
      await page.keyboard.press('Enter')
      const log = page.getByRole('log', { name: 'Messages' })
      await log.getByText('Here is your quote.').waitFor()
      expect(await log.locator('.message.visitor').count()).toBe(1)
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
      expect(await violationsInBothThemes(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      expect(await page.evaluate('document.activeElement.shadowRoot.activeElement.className')).toBe('launcher')
    },
  )

  test('widget: the conversation is there after a reload, and an answer that came meanwhile is marked', async () => {
    const shop = await openWidgetPage(console())
    const page = await console().newPage({ signedIn: false })
    await page.goto(shop.url)
    await page.getByRole('button', { name: 'Open the chat' }).click()
    await page.getByLabel('Your message').fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Here is your quote.').waitFor()
    await page.getByRole('button', { name: 'Close the chat' }).click()
    const [thread] = (await console().call('GET', `/v1/threads?channel_id=${shop.channel}`)).body.data
    await console().call('POST', `/v1/threads/${thread.id}/messages`, { body: 'See https://shop.example/7.' })
    await page.reload()
    await page.getByRole('button', { name: 'Open the chat, 1 new' }).click()
    const log = page.getByRole('log')
    await log.getByText('Here is your quote.').waitFor()
    const link = log.getByRole('link', { name: 'https://shop.example/7' })
    expect(await link.getAttribute('href')).toBe('https://shop.example/7')
    expect(await log.locator('.message').count()).toBe(3)
    await page.reload()
    await page.getByRole('button', { name: 'Open the chat', exact: true }).waitFor()
  })

  test('widget: a visitor leaves an address with a message', async () => {
    const shop = await openWidgetPage(console())
    const page = await console().newPage({ signedIn: false })
    await page.goto(shop.url)
    await page.getByRole('button', { name: 'Open the chat' }).click()
    await page.getByText('Leave your email address').click()
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('Email').fill('ada@visitor.example')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByLabel('Your message').fill('Hello')
    await page.keyboard.press('Enter')
    await page.getByText('Here is your quote.').waitFor()
    expect(await page.getByText('Leave your email address').isVisible()).toBe(false)
    const found = await console().call('GET', '/v1/clients?handle=ada%40visitor.example')
    expect(found.body.data).toMatchObject([{ display_name: 'Ada' }])
  })

  test('widget: on a page that is not allowed the visitor learns that the message was not sent', async () => {
    const shop = await openWidgetPage(console(), { origins: ['https://another.example'] })
    const page = await console().newPage({ signedIn: false, expected: /403/ })
    await page.goto(shop.url)
    await page.getByRole('button', { name: 'Open the chat' }).click()
    await page.getByLabel('Your message').fill('Hello')
    await page.keyboard.press('Enter')
    await page.getByText('The chat is not available on this page.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await console().call('PUT', `/v1/channels/${shop.channel}`, { config: { origins: [shop.origin] } })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Here is your quote.').waitFor()
    expect(await page.getByRole('log').locator('.message.visitor').count()).toBe(1)
  })

  test('widget: a message is shown as text, whatever it contains', async () => {
    await console().call('PUT', '/v1/brand', { name: '<b>Acme</b>', language: 'de', color: '#0b1220', welcome: null })
    const shop = await openWidgetPage(console())
    const page = await console().newPage({ signedIn: false })
    await page.goto(shop.url)
    await page.getByRole('button', { name: 'Chat öffnen' }).click()
    await page.getByText('Wie können wir helfen?').waitFor()
    await page.getByLabel('Ihre Nachricht').fill('<img src=x onerror=alert(1)> javascript:alert(1)')
    await page.keyboard.press('Enter')
    await page.getByText('Here is your quote.').waitFor()
    expect(await page.getByRole('log').locator('img, a').count()).toBe(0)
    await page.getByText('<img src=x onerror=alert(1)> javascript:alert(1)').waitFor()
  })
})
